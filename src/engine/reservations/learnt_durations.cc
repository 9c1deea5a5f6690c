#include "engine/reservations/learnt_durations.h"

#include "engine/reservations/prediction_bound.h"

namespace synergy {

void LearntDurations::Ended(const std::string& workload, Duration ran) {
  const auto [place, is_new] = ended_.try_emplace(workload);
  if (is_new) order_.push_back(workload);
  place->second.push_back(ran);
  if (place->second.size() > kMostEnded) place->second.pop_front();
  if (ended_.size() <= kMostWorkloads) return;
  ended_.erase(order_.front());
  order_.pop_front();
}

std::optional<Duration> LearntDurations::LongestOf(const std::string& workload,
                                                   std::span<const Duration> running) const {
  const auto known = ended_.find(workload);
  if (known == ended_.end()) return std::nullopt;
  return BoundOfNext<Duration>({known->second.begin(), known->second.end()}, running, confidence_);
}

}  // namespace synergy
