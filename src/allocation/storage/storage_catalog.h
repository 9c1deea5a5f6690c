#pragma once

// Looks up what is known of the nodes' storage and of what pods read from it
// (docs/internals/storage.md).
//
// Threading: determined by the caller.

#include <memory>
#include <optional>
#include <string>

#include "cluster/pod.h"
#include "profile/data_reads.h"
#include "profile/job_profile.h"

namespace synergy {

// The reads of a pod, and its profile when it has the storage to itself; both for all its GPUs.
struct PodReads {
  std::shared_ptr<const JobProfile> profile;
  DataReads reads;
};

class StorageCatalog {
 public:
  virtual ~StorageCatalog() = default;

  // Returns bytes per second; 0: unknown.
  virtual double BandwidthOf(const std::string& node) const = 0;
  // Returns the bandwidth of the node with the fastest storage.
  virtual double MostBandwidth() const = 0;
  // Returns nullopt if the reads are unknown.
  virtual std::optional<PodReads> ReadsOf(const Pod& pod) const = 0;
};

}  // namespace synergy
