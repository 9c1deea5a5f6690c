#pragma once

// Computes how many bytes a training reads, and how many of them its node's storage must deliver.
// The cache keeps a fixed part of the data set (cache_model.h), so every epoch misses the rest.
//
//   need = rate x bytes per iteration x missed part (memory)
//
// Rates are iterations per second, in the unit of a profile's throughput; needs and bandwidths are
// bytes per second. All belong to the whole job, or to the pod that the profile is for.
//
// Threading: values; pure.

#include <algorithm>
#include <limits>

#include "core/units.h"
#include "profile/job_profile.h"

namespace synergy {

struct DataReads {
  Bytes process;             // the part of the memory that is not cache
  Bytes data_set;            // 0: reads nothing
  double per_iteration = 0;  // bytes

  // Returns the fraction (0 to 1) of the data set that does not fit into a cache within `memory`.
  double Missed(Bytes memory) const {
    if (data_set <= Bytes(0)) return 0;
    const Bytes cached = std::clamp(memory - process, Bytes(0), data_set);
    return static_cast<double>((data_set - cached).count()) / static_cast<double>(data_set.count());
  }
  // Returns the memory with which the training reads nothing from storage.
  Bytes Enough() const { return process + data_set; }

  double NeedAt(double rate, Bytes memory) const { return rate * per_iteration * Missed(memory); }
  // Returns the need at the profile's rate with these amounts.
  double NeedOf(const JobProfile& profile, const ResourceVector& amounts) const {
    return NeedAt(profile.ThroughputAt(amounts.cpu, amounts.memory), amounts.memory);
  }
  // Returns the rate that `bandwidth` allows; infinity if the cache holds the whole data set.
  double RateWith(double bandwidth, Bytes memory) const {
    const double missed = Missed(memory);
    if (missed <= 0) return std::numeric_limits<double>::infinity();
    return bandwidth / per_iteration / missed;
  }
};

}  // namespace synergy
