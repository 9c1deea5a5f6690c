#pragma once

// What is known about the training of one model: for whom it was measured, and the measurements as
// they were taken. A JobProfile is made of it.
//
// Threading: values.

#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "core/units.h"
#include "profile/cache_model.h"
#include "profile/job_profile.h"
#include "profile/spread_cost.h"

namespace synergy {

// Measurements with everything in memory, and what the memory dimension is calculated from.
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
  // JobProfile::process_memory(). It is part of the points' memory, and comes on top of the cache
  // that is calculated with.
  std::optional<Bytes> process_memory;
  // Measured over CPU and memory, or `cached`: one of the two.
  std::vector<JobProfile::Point> points;
  std::optional<CachedMeasurements> cached;
  SpreadCost spread;  // of gangs of such pods

  bool operator==(const TrainingProfile&) const = default;
};

// kInvalid as JobProfile::Create and CalculateProfile say it.
Result<JobProfile> MakeJobProfile(const TrainingProfile& training);

}  // namespace synergy
