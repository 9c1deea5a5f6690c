#pragma once

// Tracks whether queries of node agents renew the turns on GPUs. Agents follow the turns in pods'
// annotations only while the leader, whose plan is up to date, renews them. This file is separate
// because the queries of all agents read it, and the unit that plans turns writes it.
//
// Threading: any thread.

#include <atomic>
#include <chrono>
#include <string_view>

#include "core/clock.h"

namespace synergy::controller {

// The header of GET /progress that renews turns.
inline constexpr std::string_view kTurnsHeader = "Synergy-Turns";
inline constexpr std::string_view kRenewTurns = "renew";

class TurnRenewal {
 public:
  static constexpr Duration kLongest = std::chrono::seconds(60);

  // Records that the annotations agree with the plan at this time.
  void Renew(Instant now) { renewed_ = now; }
  // Records that this replica no longer leads.
  void End() { renewed_ = Instant::min(); }
  bool Holds(Instant now) const {
    const Instant renewed = renewed_;
    return renewed != Instant::min() && now - renewed < kLongest;
  }

 private:
  std::atomic<Instant> renewed_ = Instant::min();
};

}  // namespace synergy::controller
