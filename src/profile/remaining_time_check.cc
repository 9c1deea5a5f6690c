#include "profile/remaining_time_check.h"

#include <algorithm>
#include <chrono>

namespace synergy {
namespace {

constexpr Seconds kMostOverdue = std::chrono::minutes(10);
// The shortest time that a report counts as. Without this minimum, reports could be halved forever.
constexpr Seconds kLeastClaimed{1};

}  // namespace

std::optional<Seconds> RemainingTimeCheck::Check(Seconds reported, Seconds ran) {
  const Seconds counted = std::max(reported, kLeastClaimed);
  if (!claimed_ || counted <= *claimed_ / 2 || counted >= 2 * most_) {
    claimed_ = counted;
    claimed_at_ = ran;
  }
  most_ = std::max(most_, counted);
  refuted_ = ran - claimed_at_ > 2 * *claimed_ + kMostOverdue;
  return refuted_ ? std::nullopt : std::optional(reported);
}

}  // namespace synergy
