#include "nodeagent/devices/device_keeper.h"

#include <chrono>
#include <optional>
#include <set>
#include <utility>

namespace synergy::nodeagent {
namespace {

constexpr Duration kInterval = std::chrono::seconds(1);
// After this time, a container is read again, and a reading missing on its pod is written again.
constexpr Duration kTryAgain = std::chrono::seconds(10);

// Returns the new reading of a container, corrected by the reading before.
DeviceReading After(const DeviceReading& before, DeviceReading now) {
  const bool was_lost = before.safety == DeviceSafety::kLost;
  const bool had_them = was_lost || before.safety == DeviceSafety::kSafe;
  if (now.safety == DeviceSafety::kUnsafe && had_them) {
    now.safety = DeviceSafety::kLost;
    now.resized = false;
    now.why =
        "the scope of its container listed its GPUs until a resize: create the pod again, and if "
        "that repeats, update the node's container runtime";
  } else if (now.safety == DeviceSafety::kUnknown && was_lost) {
    return before;
  }
  return now;
}

}  // namespace

DeviceKeeper::DeviceKeeper(const NodePods& pods, DeviceGroups& groups, ReadingWriter& writer,
                           const Clock& clock, Logger& log)
    : pods_(pods), groups_(groups), writer_(writer), clock_(clock), log_(log) {}

Duration DeviceKeeper::Step() {
  std::set<std::string> there;
  for (const PodPointer& pod : pods_.All()) {
    if (!pod->managed || pod->deleting) continue;
    const wire::ResizeStatus::Container* const container = TrainingContainer(*pod);
    if (container == nullptr) continue;
    there.insert(pod->uid);
    Look(*pod, *container);
  }
  std::erase_if(seen_, [&](const auto& entry) { return !there.contains(entry.first); });
  return kInterval;
}

void DeviceKeeper::Look(const wire::ResizeStatus& pod,
                        const wire::ResizeStatus::Container& container) {
  Seen& seen = seen_[pod.uid];
  if (!Read(pod, container, seen) || pod.fungible->devices == seen.reading) return;
  const Instant now = clock_.Now();
  if (seen.written && now - *seen.written < kTryAgain) return;
  seen.written = now;
  writer_.Write({pod.pod_namespace, pod.name, pod.uid}, seen.reading);
}

bool DeviceKeeper::Read(const wire::ResizeStatus& pod,
                        const wire::ResizeStatus::Container& container, Seen& seen) {
  const Instant now = clock_.Now();
  const Amounts amounts{pod.fungible->requested, pod.fungible->in_force, pod.fungible->set_aside};
  const bool is_new = seen.reading.container != container.id;
  if (!is_new && seen.amounts == amounts && now - seen.read < kTryAgain) return true;
  Result<DeviceReading> read = groups_.Read(pod, container);
  if (!read) return !is_new;
  read->container = container.id;
  // A new process of the agent continues from the reading on the pod.
  const std::optional<DeviceReading> before = is_new ? pod.fungible->devices : seen.reading;
  const bool was_read = before && before->container == container.id;
  const DeviceReading reading = was_read ? After(*before, *std::move(read)) : *std::move(read);
  const bool differs = is_new || seen.reading != reading;
  seen = {reading, amounts, now, differs ? std::nullopt : seen.written};
  if (differs && reading.safety != DeviceSafety::kSafe) {
    log_.Warn(reading.safety == DeviceSafety::kLost ? "a resize has cost a pod its GPUs"
                                                    : "a resize may cost a pod its GPUs",
              {{"pod", pod.Key()}, {"devices", ToString(reading.safety)}, {"why", reading.why}});
  }
  return true;
}

}  // namespace synergy::nodeagent
