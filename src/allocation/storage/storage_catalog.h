#pragma once

// Looks up the storage of nodes, and what pods read from it, as far as that is known
// (docs/internals/storage.md).
//
// Threading: that of the caller.

#include <memory>
#include <optional>
#include <string>

#include "cluster/pod.h"
#include "profile/data_reads.h"
#include "profile/job_profile.h"

namespace synergy {

// The reads of a pod, and its profile where it has the storage to itself; both for its GPUs.
struct PodReads {
  std::shared_ptr<const JobProfile> profile;
  DataReads reads;
};

class StorageCatalog {
 public:
  virtual ~StorageCatalog() = default;

  // Returns bytes per second; 0: unknown.
  virtual double BandwidthOf(const std::string& node) const = 0;
  // Returns the bandwidth of the node that has most.
  virtual double MostBandwidth() const = 0;
  // Returns nullopt if it is unknown.
  virtual std::optional<PodReads> ReadsOf(const Pod& pod) const = 0;
};

}  // namespace synergy
