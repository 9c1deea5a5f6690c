#include "queues/remaining_belief.h"

#include <algorithm>
#include <chrono>

namespace synergy {
namespace {

constexpr Seconds kMostOverdue = std::chrono::minutes(10);
// Shortest time that a report counts as. Without it reports could be halved forever.
constexpr Seconds kLeastSaid{1};

}  // namespace

std::optional<Seconds> RemainingBelief::Hear(Seconds told, Seconds ran) {
  const Seconds heard = std::max(told, kLeastSaid);
  if (!said_ || heard <= *said_ / 2 || heard >= 2 * most_) {
    said_ = heard;
    said_at_ = ran;
  }
  most_ = std::max(most_, heard);
  refuted_ = ran - said_at_ > 2 * *said_ + kMostOverdue;
  return refuted_ ? std::nullopt : std::optional(told);
}

}  // namespace synergy
