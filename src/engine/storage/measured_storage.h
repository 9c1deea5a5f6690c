#pragma once

// Tells the tuner which storage pods share, as node agents have measured it
// (profile/pod_progress.h), and what pods read, by their profiles.
//
// Agents report a disk's bandwidth only once it has been short, and a pod's disk only while the pod
// reads. A pod that has got so much memory that it reads nothing any more must not lose it for that
// reason. So what has been seen counts until its pod is gone.
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

  std::map<std::string, Disk> disks;           // by node: the one from which most is read
  std::map<std::string, std::string> readers;  // of these disks: the nodes of pods, by uid

  bool operator==(const StorageFacts&) const = default;
};

// Whether the pod of this uid is on that node.
using PodIsThere = std::function<bool(const std::string& uid, const std::string& node)>;

// Returns `before` with the latest reports. A bandwidth that has changed by less than a tenth stays
// as it was, so that noise causes no change of pods. A node's disk stays its disk while any pod
// reads from it.
StorageFacts WithReports(const StorageFacts& before, std::span<const KnownProgress> reports,
                         const PodIsThere& is_there);

// The storage by these facts, and the reads of pods by their profiles' models of the cache
// (cache_model.h). A profile that was measured beside other readers has the bandwidth that these
// left; here it has the whole disk's. Unknown: the reads of members of gangs, and of pods with
// other numbers of GPUs than their profile's.
class MeasuredStorage final : public StorageCatalog {
 public:
  // The profiles outlive this.
  explicit MeasuredStorage(const ProfileCatalog& profiles) : profiles_(profiles) {}

  // Returns the nodes of whose storage something else is known now.
  std::set<std::string> Hold(StorageFacts facts);
  const StorageFacts& facts() const { return facts_; }

  double BandwidthOf(const std::string& node) const override;
  double MostBandwidth() const override;
  std::optional<PodReads> ReadsOf(const Pod& pod) const override;

 private:
  // A profile where the pod has the storage of its node to itself.
  struct Alone {
    double bandwidth = 0;
    std::shared_ptr<const JobProfile> profile;
  };

  const ProfileCatalog& profiles_;
  StorageFacts facts_;
  // Each for the last node that it was needed for.
  mutable std::map<std::weak_ptr<const TrainingProfile>, Alone, std::owner_less<>> alone_;
};

}  // namespace synergy
