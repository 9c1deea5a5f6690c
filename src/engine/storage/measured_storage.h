#pragma once

// Gives the tuner the bandwidth of the storage that pods share, as node agents measure it
// (profile/pod_progress.h), and the reads of pods, according to their profiles.
//
// Agents report a disk's bandwidth only after the disk was fully used, and a pod's disk only while
// the pod reads. A pod may have got so much memory that it no longer reads; it must not lose the
// memory for that reason. So an observation counts until its pod is gone.
//
// Threading: values; one owner of a MeasuredStorage.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "allocation/storage/storage_catalog.h"
#include "engine/profile_catalog.h"
#include "profile/pod_progress.h"

namespace synergy {

struct StorageFacts {
  struct Disk {
    std::string name;      // "nvme0n1"
    double bandwidth = 0;  // bytes per second

    bool operator==(const Disk&) const = default;
  };

  std::map<std::string, Disk> disks;           // by node: the disk that its pods read from most
  std::map<std::string, std::string> readers;  // pods that read from these disks: uid to node

  bool operator==(const StorageFacts&) const = default;
};

// Returns whether the pod with this uid is on that node.
using PodIsThere = std::function<bool(const std::string& uid, const std::string& node)>;

// Returns `before` updated with the latest reports. A bandwidth that changed by less than a tenth
// keeps its value, so that noise changes no pods. A node keeps its disk while any pod reads from
// it.
StorageFacts WithReports(const StorageFacts& before, std::span<const KnownProgress> reports,
                         const PodIsThere& is_there);

// Derives the storage from these facts, and pods' reads from the cache models of their profiles
// (cache_model.h). A profile that was measured beside other readers has the bandwidth that they
// left; this class replaces it with the bandwidth of the whole disk. The reads of members of gangs
// are unknown, as are those of pods whose number of GPUs differs from their profile's.
class MeasuredStorage final : public StorageCatalog {
 public:
  // The profiles must outlive this object.
  explicit MeasuredStorage(const ProfileCatalog& profiles) : profiles_(profiles) {}

  // Returns the nodes whose known storage has changed.
  std::set<std::string> Hold(StorageFacts facts);
  const StorageFacts& facts() const { return facts_; }

  double BandwidthOf(const std::string& node) const override;
  double MostBandwidth() const override;
  std::optional<PodReads> ReadsOf(const Pod& pod) const override;

 private:
  // A profile for a pod that has its node's storage to itself.
  struct Alone {
    double bandwidth = 0;
    std::shared_ptr<const JobProfile> profile;
  };

  const ProfileCatalog& profiles_;
  StorageFacts facts_;
  // Cached for each training, with the bandwidth of the last node that needed it.
  mutable std::map<std::weak_ptr<const TrainingProfile>, Alone, std::owner_less<>> alone_;
};

}  // namespace synergy
