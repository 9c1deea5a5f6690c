#pragma once

// Looks up the bandwidth of the nodes' storage, and how pods read from it
// (docs/internals/storage.md). Placement needs less of it than the division of memory.
//
// Threading: determined by the caller.

#include <memory>
#include <optional>
#include <string>

#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"
#include "profile/data_reads.h"
#include "profile/job_profile.h"

namespace synergy {

class StorageNeeds {
 public:
  virtual ~StorageNeeds() = default;

  // Returns the node's bandwidth in bytes per second; 0 if unknown.
  virtual double BandwidthOf(const std::string& node) const = 0;
  // Returns the bandwidth of the fastest node's storage, in bytes per second.
  virtual double MostBandwidth() const = 0;
  // Returns the bandwidth that the pod needs with its demand for CPU and memory, or with what it
  // has if that is more, in bytes per second; 0 if unknown.
  virtual double NeedOf(const Pod& pod) const = 0;
  // Returns the bandwidth that the node's pods leave, in bytes per second; negative if they need
  // more than there is; nullopt if the node's bandwidth is unknown.
  virtual std::optional<double> LeftOn(const NodeState& node) const;
};

// The reads of a pod, and its profile if no other pod uses the storage. Both are for all GPUs of
// the pod.
struct PodReads {
  std::shared_ptr<const JobProfile> profile;
  DataReads reads;
};

class StorageCatalog : public StorageNeeds {
 public:
  // Returns nullopt if the reads are unknown.
  virtual std::optional<PodReads> ReadsOf(const Pod& pod) const = 0;

  double NeedOf(const Pod& pod) const final;
};

}  // namespace synergy
