#pragma once

// Says how long trainings take, by the last ones of the same workload that have ended
// (prediction_bound.h). Running trainings that already take longer count at once, so that a
// workload that changes for the worse is noticed at its first long run, not at the end of it.
//
// Threading: one owner. Memory: kMostEnded durations for each workload, kMostWorkloads workloads.

#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <string>

#include "core/clock.h"
#include "engine/reservations/lru_map.h"

namespace synergy {

class LearntDurations {
 public:
  static constexpr size_t kMostEnded = 40;
  static constexpr size_t kMostWorkloads = 1000;

  // `confidence`: the part of trainings that end in the time that LongestOf() says. REQUIRES: 0 <
  // it < 1.
  explicit LearntDurations(double confidence) : confidence_(confidence) {}

  // A training of that workload has ended by itself after `ran`.
  void Ended(const std::string& workload, Duration ran);
  // Returns the time in which the next training of that workload ends with the confidence; nullopt:
  // too few have ended. `running`: how long its running trainings have run.
  std::optional<Duration> LongestOf(const std::string& workload,
                                    std::span<const Duration> running) const;

 private:
  const double confidence_;
  LruMap<std::deque<Duration>, kMostWorkloads> ended_;  // the oldest first
};

}  // namespace synergy
