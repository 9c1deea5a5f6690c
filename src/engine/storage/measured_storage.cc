#include "engine/storage/measured_storage.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace synergy {
namespace {

constexpr double kNoise = 0.1;  // fraction of a bandwidth

// The reads of a node's pods from one of its disks.
struct DiskReads {
  double read = 0;       // bytes per second
  double bandwidth = 0;  // 0: unknown
};

// Returns the disks from which pods read now, by node and name.
std::map<std::string, std::map<std::string, DiskReads>> DisksIn(
    std::span<const KnownProgress> reports, const PodIsThere& is_there) {
  std::map<std::string, std::map<std::string, DiskReads>> disks;
  for (const KnownProgress& report : reports) {
    const std::optional<StorageUse>& use = report.pod.storage;
    if (!use || use->backend == kNetworkStorage || !is_there(report.pod.uid, report.node)) continue;
    DiskReads& disk = disks[report.node][use->backend];
    disk.read += use->read.value_or(0);
    disk.bandwidth = std::max(disk.bandwidth, use->bandwidth.value_or(0));
  }
  return disks;
}

// Returns the disk from which most is read, among those with a known bandwidth; its name is empty
// if there is none.
StorageFacts::Disk MostRead(const std::map<std::string, DiskReads>& disks) {
  StorageFacts::Disk most;
  double read = -1;
  for (const auto& [name, disk] : disks) {
    if (disk.bandwidth <= 0 || disk.read <= read) continue;
    most = {name, disk.bandwidth};
    read = disk.read;
  }
  return most;
}

// Returns the profile of the training with storage of this bandwidth to itself; null if it is not
// valid.
std::shared_ptr<const JobProfile> WithStorage(TrainingProfile training, double bandwidth) {
  training.cached->model.storage_bandwidth = Bytes(std::llround(bandwidth));
  Result<JobProfile> profile = MakeJobProfile(training);
  return profile ? std::make_shared<const JobProfile>(*std::move(profile)) : nullptr;
}

}  // namespace

StorageFacts WithReports(const StorageFacts& before, std::span<const KnownProgress> reports,
                         const PodIsThere& is_there) {
  StorageFacts facts;
  for (const auto& [uid, node] : before.readers) {
    if (is_there(uid, node)) facts.readers.emplace(uid, node);
  }
  for (const auto& [uid, node] : facts.readers) facts.disks[node] = before.disks.at(node);
  for (const auto& [node, disks] : DisksIn(reports, is_there)) {
    StorageFacts::Disk most = MostRead(disks);
    const auto known = facts.disks.find(node);
    if (known == facts.disks.end()) {
      if (!most.name.empty()) facts.disks.emplace(node, std::move(most));
      continue;
    }
    const auto disk = disks.find(known->second.name);
    if (disk == disks.end()) {
      // Pods now read from another disk, and no longer from this one.
      if (!most.name.empty()) known->second = std::move(most);
      continue;
    }
    if (disk->second.bandwidth <= 0) continue;
    double& bandwidth = known->second.bandwidth;
    if (std::abs(disk->second.bandwidth - bandwidth) >= kNoise * bandwidth)
      bandwidth = disk->second.bandwidth;
  }
  std::erase_if(facts.readers, [&](const auto& reader) {
    return facts.disks.at(reader.second).name != before.disks.at(reader.second).name;
  });
  for (const KnownProgress& report : reports) {
    const std::optional<StorageUse>& use = report.pod.storage;
    if (!use || !is_there(report.pod.uid, report.node)) continue;
    const auto disk = facts.disks.find(report.node);
    if (disk != facts.disks.end() && disk->second.name == use->backend) {
      facts.readers[report.pod.uid] = report.node;
    } else {
      facts.readers.erase(report.pod.uid);
    }
  }
  std::set<std::string> read;
  for (const auto& [uid, node] : facts.readers) read.insert(node);
  std::erase_if(facts.disks, [&](const auto& disk) { return !read.contains(disk.first); });
  return facts;
}

std::set<std::string> MeasuredStorage::Hold(StorageFacts facts) {
  std::set<std::string> changed;
  const auto compare = [&changed](const StorageFacts& all, const StorageFacts& others) {
    for (const auto& [node, disk] : all.disks) {
      const auto other = others.disks.find(node);
      if (other == others.disks.end() || other->second != disk) changed.insert(node);
    }
    for (const auto& [uid, node] : all.readers) {
      if (!others.readers.contains(uid)) changed.insert(node);
    }
  };
  compare(facts_, facts);
  compare(facts, facts_);
  facts_ = std::move(facts);
  return changed;
}

double MeasuredStorage::BandwidthOf(const std::string& node) const {
  const auto disk = facts_.disks.find(node);
  return disk == facts_.disks.end() ? 0 : disk->second.bandwidth;
}

double MeasuredStorage::MostBandwidth() const {
  double most = 0;
  for (const auto& [node, disk] : facts_.disks) most = std::max(most, disk.bandwidth);
  return most;
}

std::optional<PodReads> MeasuredStorage::ReadsOf(const Pod& pod) const {
  if (!pod.fungible || pod.fungible->profile.empty() || pod.IsOfGang()) return std::nullopt;
  const auto reader = facts_.readers.find(pod.uid);
  if (reader == facts_.readers.end() || reader->second != pod.node) return std::nullopt;
  TunedProfile found =
      profiles_.Find(pod.pod_namespace, pod.fungible->profile, pod.fungible->requested.gpus);
  if (!found.profile || !found.cached) return std::nullopt;
  if (!alone_.contains(found.cached))
    std::erase_if(alone_, [](const auto& each) { return each.first.expired(); });
  Alone& alone = alone_[found.cached];
  const double bandwidth = BandwidthOf(pod.node);
  if (alone.bandwidth != bandwidth) alone = {bandwidth, WithStorage(*found.cached, bandwidth)};
  if (!alone.profile) return std::nullopt;
  return PodReads{alone.profile, DataReadsOf(*found.cached)};
}

}  // namespace synergy
