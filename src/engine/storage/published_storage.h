#pragma once

// The knowledge about storage by which the extender places pods. The controller publishes it,
// because it alone has the reports of node agents and the profiles.
//
// A pod reads only after it has been placed. So reads belong to profiles: a pod is assumed to read
// as the running pods with its profile do, except that its memory may hold another part of the
// data.
//
// Bounds: kMostNodes and kMostProfiles entries, which fit into a ConfigMap even with names of
// maximum length. Nodes beyond count as unknown. Each namespace has an equal part of the profiles,
// for those that read most.
//
// Threading: values; a PlacementNeeds may be read by any thread.

#include <cstddef>
#include <map>
#include <string>

#include "allocation/storage/storage_catalog.h"
#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"
#include "core/units.h"
#include "engine/storage/measured_storage.h"

namespace synergy {

struct ProfileReads {
  Gpus gpus;                // the need of a pod with another number is unknown
  Bytes process, data_set;  // as in DataReads
  double most = 0;          // without a cache, at the rate of the demand; bytes per second

  bool operator==(const ProfileReads&) const = default;
};

struct PlacementStorage {
  static constexpr size_t kMostNodes = 2500;
  static constexpr size_t kMostProfiles = 500;

  std::map<std::string, double> bandwidths;                          // by node; bytes per second
  std::map<std::string, std::map<std::string, ProfileReads>> reads;  // by namespace and profile

  bool operator==(const PlacementStorage&) const = default;
};

// Returns what is known about the nodes, and about the profiles of pods that read from their disks.
PlacementStorage ForPlacement(const MeasuredStorage& storage, const ClusterSnapshot& snapshot);

// The same, as kept in a ConfigMap.
struct PublishedStorage {
  std::string resource_version;  // of the ConfigMap; empty: there is none yet
  PlacementStorage storage;
};

class PlacementNeeds final : public StorageNeeds {
 public:
  // Ignores amounts that are not positive numbers.
  explicit PlacementNeeds(PlacementStorage storage);

  const PlacementStorage& storage() const { return storage_; }

  double BandwidthOf(const std::string& node) const override;
  double MostBandwidth() const override { return most_; }
  // Counts what the pod's memory cannot hold. Returns 0 for members of gangs, whose reads are not
  // measured.
  double NeedOf(const Pod& pod) const override;

 private:
  PlacementStorage storage_;
  double most_ = 0;
};

}  // namespace synergy
