#include "nodeagent/devices/device_keeper.h"

#include <chrono>
#include <set>

namespace synergy::nodeagent {
namespace {

constexpr Duration kInterval = std::chrono::seconds(1);
// After this time, unknown readings are read again, and readings missing on the pod are written
// again.
constexpr Duration kTryAgain = std::chrono::seconds(10);

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
  const Instant now = clock_.Now();
  Seen& seen = seen_[pod.uid];
  const bool is_new = seen.container_id != container.id;
  const bool is_known = seen.reading.safety != DeviceSafety::kUnknown;
  if (is_new || (!is_known && now - seen.read >= kTryAgain)) {
    const Result<DeviceReading> reading = groups_.Read(pod, container);
    if (!reading) return;
    const bool differs = is_new || seen.reading != *reading;
    seen = {container.id, *reading, now, differs ? std::nullopt : seen.written};
    if (differs && reading->safety != DeviceSafety::kSafe) {
      log_.Warn(
          "a resize may cost a pod its GPUs",
          {{"pod", pod.Key()}, {"devices", ToString(reading->safety)}, {"why", reading->why}});
    }
  }
  if (pod.fungible->devices == seen.reading) return;
  if (seen.written && now - *seen.written < kTryAgain) return;
  seen.written = now;
  writer_.Write({pod.pod_namespace, pod.name, pod.uid}, seen.reading);
}

}  // namespace synergy::nodeagent
