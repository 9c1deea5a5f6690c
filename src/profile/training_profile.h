#pragma once

// Measurements of the training of one model, as they were taken, and the hardware to which they
// apply. A JobProfile is made from these measurements.
//
// Threading: values.

#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "core/units.h"
#include "profile/cache_model.h"
#include "profile/data_reads.h"
#include "profile/job_profile.h"
#include "profile/spread_cost.h"

namespace synergy {

// Measurements with everything in memory, and the model that determines the memory dimension.
struct CachedMeasurements {
  CacheModel model;
  std::vector<CpuPoint> points;
  std::vector<Bytes> memories;  // empty: MemoryGrid()

  bool operator==(const CachedMeasurements&) const = default;
};

struct TrainingProfile {
  std::string model;
  std::string gpu_product;  // as in the node label nvidia.com/gpu.product; empty: any
  Gpus gpus = Gpus(1);
  // The value of JobProfile::process_memory(). The memory in `points` includes this amount; in
  // `cached`, it is added to the calculated cache.
  std::optional<Bytes> process_memory;
  // Exactly one of these is set: `points` over CPU and memory, or `cached`.
  std::vector<JobProfile::Point> points;
  std::optional<CachedMeasurements> cached;
  SpreadCost spread;  // for gangs of such pods

  bool operator==(const TrainingProfile&) const = default;
};

// Returns what the training reads. REQUIRES: the training has a model of the cache.
DataReads DataReadsOf(const TrainingProfile& training);

// Returns kInvalid as JobProfile::Create and CalculateProfile do.
Result<JobProfile> MakeJobProfile(const TrainingProfile& training);

}  // namespace synergy
