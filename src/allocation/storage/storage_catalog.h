#pragma once

// Looks up the bandwidth of the nodes' storage, and how pods read from it
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

// The reads of a pod, and its profile if no other pod uses the storage. Both are for all GPUs of
// the pod.
struct PodReads {
  std::shared_ptr<const JobProfile> profile;
  DataReads reads;
};

class StorageCatalog {
 public:
  virtual ~StorageCatalog() = default;

  // Returns the node's bandwidth in bytes per second; 0 if unknown.
  virtual double BandwidthOf(const std::string& node) const = 0;
  // Returns the bandwidth of the fastest node's storage, in bytes per second.
  virtual double MostBandwidth() const = 0;
  // Returns nullopt if the reads are unknown.
  virtual std::optional<PodReads> ReadsOf(const Pod& pod) const = 0;
};

}  // namespace synergy
