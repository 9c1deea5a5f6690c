#include "engine/reservations/learnt_durations.h"

#include "engine/reservations/prediction_bound.h"

namespace synergy {

void LearntDurations::Ended(const std::string& workload, Duration ran) {
  std::deque<Duration>& ended = ended_.Use(workload);
  ended.push_back(ran);
  if (ended.size() > kMostEnded) ended.pop_front();
}

std::optional<Duration> LearntDurations::LongestOf(const std::string& workload,
                                                   std::span<const Duration> running) const {
  const std::deque<Duration>* const known = ended_.Find(workload);
  if (known == nullptr) return std::nullopt;
  return BoundOfNext<Duration>({known->begin(), known->end()}, running, confidence_);
}

}  // namespace synergy
