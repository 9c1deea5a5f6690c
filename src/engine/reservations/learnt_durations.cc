#include "engine/reservations/learnt_durations.h"

#include <algorithm>
#include <cmath>
#include <vector>

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
  std::vector<Duration> ended(known->second.begin(), known->second.end());
  std::sort(ended.begin(), ended.end());
  size_t longer = 0;  // running trainings that take longer than the bound
  for (;;) {
    const auto all = static_cast<double>(ended.size() + longer + 1);
    // Rounding must not make 4 of 5 a fifth of 5.
    const auto rank = static_cast<size_t>(std::ceil(confidence_ * all - 1e-9));
    if (rank > ended.size()) return std::nullopt;
    const Duration bound = ended[rank - 1];
    const auto now_longer = static_cast<size_t>(
        std::count_if(running.begin(), running.end(), [&](Duration ran) { return ran > bound; }));
    // A longer bound has fewer above it: what was counted stays counted.
    if (now_longer <= longer) return bound;
    longer = now_longer;
  }
}

}  // namespace synergy
