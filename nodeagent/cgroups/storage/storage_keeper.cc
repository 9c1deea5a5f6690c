#include "nodeagent/cgroups/storage/storage_keeper.h"

#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "nodeagent/cgroups/cgroup_files.h"
#include "nodeagent/cgroups/storage/io_counts.h"

namespace synergy::nodeagent {
namespace {

namespace fs = std::filesystem;

// This file also counts the reads and writes of the groups below.
constexpr std::string_view kThrottledIo = "/blkio.throttle.io_service_bytes_recursive";

bool HasV1(const std::string& cgroup_folder) {
  std::error_code error;
  return fs::exists(fmt::format("{}/blkio{}", cgroup_folder, kThrottledIo), error);
}

}  // namespace

StorageKeeper::StorageKeeper(const NodePods& pods, const KernelFolders& folders,
                             const std::string& kubelet_cgroup_root, StorageDivider* divider,
                             const Clock& clock, Logger& log, metrics::NodeAgentMetrics& metrics)
    : pods_(pods),
      v1_(HasV1(folders.cgroup)),
      hierarchy_(v1_ ? folders.cgroup + "/blkio" : folders.cgroup),
      kubelet_cgroup_root_(kubelet_cgroup_root),
      folders_(hierarchy_, kubelet_cgroup_root),
      devices_(folders.sys),
      divider_(divider),
      clock_(clock),
      log_(log),
      metrics_(metrics),
      reads_(folders.proc) {}

Result<std::map<std::string, IoCount>> StorageKeeper::ReadDisks(const std::string& folder) const {
  const Result<std::string> text =
      ReadCgroupFile(fmt::format("{}{}", folder, v1_ ? kThrottledIo : "/io.stat"));
  if (!text) return Fail(text.error());
  return devices_.OfDisks(v1_ ? ParseThrottledIo(*text) : ParseIoStat(*text));
}

Result<std::map<std::string, IoCount>> StorageKeeper::ReadAllPods() const {
  Result<std::map<std::string, IoCount>> read = Fail(ErrorCode::kNotFound, "no pods");
  for (const std::string& folder : FoldersOfAllPods(kubelet_cgroup_root_)) {
    read = ReadDisks(hierarchy_ + folder);
    if (read) break;
  }
  return read;
}

std::optional<ContainerIo> StorageKeeper::ReadContainer(
    const wire::ResizeStatus& pod, const wire::ResizeStatus::Container& container) {
  const Result<std::string> folder = folders_.OfContainer(pod, container);
  if (!folder) return std::nullopt;
  auto disks = ReadDisks(*folder);
  if (!disks) return std::nullopt;
  ContainerIo io{.disks = *std::move(disks), .fetched = std::nullopt, .waited = std::nullopt};
  if (const auto reads = reads_.Of(*folder)) io.fetched = reads->fetched;
  if (const Result<std::string> pressure = ReadCgroupFile(*folder + "/io.pressure"))
    io.waited = ParseSomeStalled(*pressure);
  return io;
}

void StorageKeeper::Look() {
  auto all_pods = ReadAllPods();
  if (!all_pods) {
    metrics_.CountError("io_unreadable");
    if (const std::string& problem = all_pods.error().message; problem != problem_) {
      problem_ = problem;
      log_.Warn("cannot read the storage use of the node's pods", {{"error", problem}});
    }
    if (divider_ != nullptr) divider_->Divide({});
    const std::lock_guard lock(mutex_);
    uses_.clear();
    gauges_ = {};
    return;
  }
  problem_.clear();
  StorageReading reading{.at = clock_.Now(),
                         .wall = clock_.WallNow(),
                         .all_pods = *std::move(all_pods),
                         .containers = {},
                         .capped = {}};
  if (divider_ != nullptr) {
    for (const auto& [uid, cap] : divider_->in_force()) reading.capped.insert(uid);
  }
  metrics::StorageGauges gauges;
  for (const PodPointer& pod : pods_.All()) {
    const auto* const container = TrainingContainer(*pod);
    if (container == nullptr) continue;
    auto io = ReadContainer(*pod, *container);
    if (!io) continue;
    for (const auto& [disk, count] : io->disks) {
      if (count.read > 0)
        gauges.pods.push_back({pod->pod_namespace, pod->name, container->name, disk, count.read});
    }
    reading.containers.emplace(std::pair(pod->uid, container->id), *std::move(io));
  }
  for (const auto& [disk, count] : reading.all_pods)
    gauges.disks.push_back({.device = disk, .read = count.read});
  meter_.Observe(std::move(reading));
  for (metrics::StorageGauges::Disk& disk : gauges.disks) {
    disk.bandwidth = meter_.BandwidthOf(disk.device);
    if (const auto waited = meter_.waited().find(disk.device); waited != meter_.waited().end())
      disk.waited = waited->second;
  }
  std::map<std::string, StorageUse> uses = meter_.uses();
  if (divider_ != nullptr) Divide(uses, gauges);
  const std::lock_guard lock(mutex_);
  uses_ = std::move(uses);
  gauges_ = std::move(gauges);
}

void StorageKeeper::Divide(std::map<std::string, StorageUse>& uses,
                           metrics::StorageGauges& gauges) {
  divider_->Divide(uses);
  for (const auto& [uid, cap] : divider_->in_force()) {
    if (const auto use = uses.find(uid); use != uses.end()) use->second.cap = cap.rate;
    for (metrics::StorageGauges::Pod& pod : gauges.pods) {
      if (pod.pod_namespace == cap.pod_namespace && pod.pod == cap.pod && pod.device == cap.disk)
        pod.cap = cap.rate;
    }
  }
}

std::map<std::string, StorageUse> StorageKeeper::Uses() const {
  const std::lock_guard lock(mutex_);
  return uses_;
}

metrics::StorageGauges StorageKeeper::Gauges() const {
  const std::lock_guard lock(mutex_);
  return gauges_;
}

}  // namespace synergy::nodeagent
