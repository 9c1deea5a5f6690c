#include "profile/training_profile.h"

namespace synergy {

namespace {

Result<JobProfile> MakeGrid(const TrainingProfile& training) {
  if (!training.cached) return JobProfile::Create(training.gpus, training.points);
  if (!training.points.empty()) {
    return Fail(ErrorCode::kInvalid,
                "points either all have memory, or all are measured with everything in memory");
  }
  const CachedMeasurements& cached = *training.cached;
  return CalculateProfile(training.gpus, cached.points, cached.model, cached.memories,
                          training.process_memory.value_or(Bytes(0)));
}

}  // namespace

DataReads DataReadsOf(const TrainingProfile& training) {
  const CacheModel& model = training.cached->model;
  return {.process = training.process_memory.value_or(Bytes(0)),
          .data_set = model.data_set,
          .per_iteration = static_cast<double>(model.bytes_per_sample.count())};
}

Result<JobProfile> MakeJobProfile(const TrainingProfile& training) {
  Result<JobProfile> profile = MakeGrid(training);
  if (!profile) return profile;
  *profile = profile->WithSpread(training.spread);
  if (!training.process_memory) return profile;
  if (*training.process_memory > profile->memories().back()) {
    return Fail(ErrorCode::kInvalid, "the process memory is more than any point's memory");
  }
  return profile->WithProcessMemory(*training.process_memory);
}

}  // namespace synergy
