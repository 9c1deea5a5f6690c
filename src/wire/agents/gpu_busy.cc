#include "wire/agents/gpu_busy.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "wire/base/member_text.h"

namespace synergy::wire {

void Members(auto& each, Like<ContainerBusy> auto& busy) {
  auto& [pod_namespace, pod, container, seconds, since] = busy;
  each("namespace", pod_namespace);
  each("pod", pod);
  each("container", container);
  each("seconds", seconds);
  each("since", since);
}

void Members(auto& each, Like<ContainerXid> auto& seen) {
  auto& [pod_namespace, pod, container, xid, at] = seen;
  each("namespace", pod_namespace);
  each("pod", pod);
  each("container", container);
  each("xid", xid);
  each("at", at);
}

void Members(auto& each, Like<NodeBusy> auto& busy) {
  auto& [at, containers, interval, xids] = busy;
  each("at", at);
  each("containers", containers);
  each("interval", interval);
  each("xids", xids);
}

std::string WriteNodeBusy(const NodeBusy& busy) { return WriteMembers(busy); }

Result<NodeBusy> ReadNodeBusy(std::string_view text) {
  if (text.size() > kLongestNodeBusy)
    return Fail(ErrorCode::kInvalid, fmt::format("longer than {} bytes", kLongestNodeBusy));
  Result<NodeBusy> read = ReadMembers<NodeBusy>(text);
  if (!read) return read;
  const bool in_order =
      std::all_of(read->containers.begin(), read->containers.end(), [](const ContainerBusy& busy) {
        return std::isfinite(busy.seconds) && busy.seconds >= 0 && busy.since >= WallTime{};
      });
  if (!in_order || read->at < WallTime{})
    return Fail(ErrorCode::kInvalid, "containers: a time is negative");
  return read;
}

}  // namespace synergy::wire
