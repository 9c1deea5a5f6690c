#include "nodeagent/cgroups/storage/storage_divider.h"

#include <cmath>
#include <cstdint>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace synergy::nodeagent {
namespace {

double InMegabytes(double bytes) { return bytes / 1e6; }

}  // namespace

StorageDivider::StorageDivider(const NodePods& pods, CgroupFolders folders, BlockDevices devices,
                               TemporaryCaps writes, const Clock& clock, Logger& log,
                               kube::EventRecorder& events, metrics::NodeAgentMetrics& metrics)
    : pods_(pods),
      folders_(std::move(folders)),
      devices_(std::move(devices)),
      writes_(std::move(writes)),
      clock_(clock),
      log_(log),
      events_(events),
      metrics_(metrics) {}

void StorageDivider::Divide(std::map<std::string, StorageUse> uses) {
  PodsByUid pods;
  std::set<std::string> uids;
  for (const PodPointer& pod : pods_.All()) {
    if (TrainingContainer(*pod) == nullptr) continue;
    pods.emplace(pod->uid, pod);
    uids.insert(pod->uid);
  }
  // A pod may have disappeared since its container was read.
  std::erase_if(uses, [&pods](const auto& entry) { return !pods.contains(entry.first); });
  caps_.Observe(uses, uids, clock_.Now());
  std::erase_if(in_force_, [&](const auto& entry) {
    const auto& [uid, cap] = entry;
    const auto wanted = caps_.caps().find(uid);
    if (wanted != caps_.caps().end() && wanted->second.disk == cap.disk &&
        TrainingContainer(*pods.at(uid))->id == cap.container_id) {
      return false;
    }
    End(cap);
    return true;
  });
  for (const auto& [uid, cap] : caps_.caps()) Set(pods, uid, cap, uses);
}

void StorageDivider::Set(const PodsByUid& pods, const std::string& uid, const StorageCap& cap,
                         const std::map<std::string, StorageUse>& uses) {
  const auto before = in_force_.find(uid);
  const bool had = before != in_force_.end();
  if (had && before->second.rate == cap.rate && clock_.Now() - before->second.set < kRenewAfter)
    return;
  if (had) {
    End(before->second);
    in_force_.erase(before);
  }
  const wire::ResizeStatus& pod = *pods.at(uid);
  auto set = Write(pod, cap);
  if (!set) return NoteProblem(set.error().message);
  problem_.clear();
  in_force_.emplace(uid, *std::move(set));
  if (had) return;
  const auto waiter = pods.find(cap.waiter);
  const auto use = uses.find(cap.waiter);
  std::string why = "others wait for it";
  if (waiter != pods.end() && use != uses.end() && use->second.waited) {
    why = fmt::format("{} waits for it {:.0f} % of the time", waiter->second->Key(),
                      100 * *use->second.waited);
  }
  events_.Record(kube::AboutPod(pod, "Normal", "SynergyStorageCap",
                                fmt::format("May read {:.1f} MB/s from disk {}, because {}",
                                            InMegabytes(cap.rate), cap.disk, why)));
  log_.Info("a pod's reads are capped",
            {{"pod", pod.Key()}, {"disk", cap.disk}, {"bytes_per_second", std::llround(cap.rate)}});
}

Result<StorageDivider::CapInForce> StorageDivider::Write(const wire::ResizeStatus& pod,
                                                         const StorageCap& cap) {
  const auto& container = *TrainingContainer(pod);
  const Result<std::string> folder = folders_.OfContainer(pod, container);
  if (!folder) return Fail(folder.error());
  const auto device = devices_.NumberOf(cap.disk);
  if (!device) return Fail(ErrorCode::kNotFound, fmt::format("no disk {}", cap.disk));
  CapInForce set{.pod_namespace = pod.pod_namespace,
                 .pod = pod.name,
                 .disk = cap.disk,
                 .rate = cap.rate,
                 .container_id = container.id,
                 .file = *folder + "/io.max",
                 .set = clock_.Now()};
  const std::string text =
      fmt::format("{}:{} rbps={}", device->major, device->minor, std::llround(cap.rate));
  if (const Result<> begun = writes_.begin(set.file, text, kLongest); !begun)
    return Fail(begun.error());
  return set;
}

void StorageDivider::End(const CapInForce& cap) {
  const Result<> ended = writes_.end(cap.file);
  // kNotFound: the guardian has already removed the cap, for example because the container is gone.
  if (ended || ended.error().code == ErrorCode::kNotFound) return;
  NoteProblem(ended.error().message);
}

void StorageDivider::NoteProblem(const std::string& problem) {
  metrics_.CountError("cap_failed");
  if (problem == problem_) return;
  problem_ = problem;
  log_.Warn("cannot set or remove a cap on a pod's reads", {{"error", problem}});
}

}  // namespace synergy::nodeagent
