#pragma once

// Whether queries of node agents renew the turns on GPUs: agents follow the turns that pods are
// annotated with only while the leader, whose plan is up to date, renews them. Apart because the
// queries of all agents read it, and the unit that plans turns writes it.
//
// Threading: from any thread.

#include <atomic>
#include <chrono>
#include <string_view>

#include "core/clock.h"

namespace synergy::controller {

// The header of GET /progress that renews.
inline constexpr std::string_view kTurnsHeader = "Synergy-Turns";
inline constexpr std::string_view kRenewTurns = "renew";

class TurnRenewal {
 public:
  static constexpr Duration kLongest = std::chrono::seconds(60);

  // The annotations agree with the plan at this time.
  void Renew(Instant now) { renewed_ = now; }
  // This replica no longer leads.
  void End() { renewed_ = Instant::min(); }
  bool Holds(Instant now) const {
    const Instant renewed = renewed_;
    return renewed != Instant::min() && now - renewed < kLongest;
  }

 private:
  std::atomic<Instant> renewed_ = Instant::min();
};

}  // namespace synergy::controller
