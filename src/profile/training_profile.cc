#include "profile/training_profile.h"

namespace synergy {

Result<JobProfile> MakeJobProfile(const TrainingProfile& training) {
  if (!training.cached) return JobProfile::Create(training.gpus, training.points);
  if (!training.points.empty()) {
    return Fail(ErrorCode::kInvalid,
                "points with memory and points with everything in memory exclude each other");
  }
  const CachedMeasurements& cached = *training.cached;
  return CalculateProfile(training.gpus, cached.points, cached.model, cached.memories);
}

}  // namespace synergy
