#include "nodeagent/memory/shrink.h"

#include <algorithm>

#include <fmt/format.h>

namespace synergy::nodeagent {

std::optional<Shrink> ShrinkOf(const wire::ResizeStatus& pod) {
  if (!pod.managed || pod.terminal || pod.deleting) return std::nullopt;
  if (!pod.resize_in_progress || pod.resize_pending) return std::nullopt;
  Shrink shrink;
  for (const wire::ResizeStatus::Container& container : pod.containers) {
    if (!container.memory_limit || !container.memory_limit_in_force) continue;
    const Bytes by = *container.memory_limit_in_force - *container.memory_limit;
    shrink.pod_by += by;
    if (by > Bytes(0) && *container.memory_limit > Bytes(0) && !container.id.empty()) {
      shrink.containers.push_back(
          {container, *container.memory_limit_in_force, *container.memory_limit});
    }
  }
  if (shrink.containers.empty()) return std::nullopt;
  return shrink;
}

Bytes MarginRule::Of(Bytes limit) const {
  // Divide first, because the product of a very large limit would overflow.
  return std::min(Bytes(limit.count() / 100 * percent), most);
}

std::string DescribeBytes(Bytes amount) {
  return fmt::format("{:.1f} MiB", static_cast<double>(amount.count()) / (1 << 20));
}

std::string Describe(const Shrink& shrink) {
  std::string text;
  for (const Shrink::Step& step : shrink.containers) {
    text += fmt::format("{}{} from {} to {}", text.empty() ? "" : ", ", step.container.name,
                        DescribeBytes(step.from), DescribeBytes(step.to));
  }
  return text;
}

}  // namespace synergy::nodeagent
