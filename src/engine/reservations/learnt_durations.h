#pragma once

// Predicts how long trainings take from the latest ended trainings of the same workload
// (prediction_bound.h). Running trainings that already exceed the prediction count at once. So an
// increase shows during the first long run, not at its end.
//
// This file is separate because predictions from ended jobs and from progress are independent.
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

  // `confidence`: the fraction of trainings that end within the time that LongestOf() returns.
  // REQUIRES: 0 < confidence < 1.
  explicit LearntDurations(double confidence) : confidence_(confidence) {}

  // Records that a training of that workload ended on its own after `ran`.
  void Ended(const std::string& workload, Duration ran);
  // Returns the time within which the next training of that workload ends, with the given
  // confidence; nullopt if too few have ended. `running`: how long its running trainings have run.
  std::optional<Duration> LongestOf(const std::string& workload,
                                    std::span<const Duration> running) const;

 private:
  const double confidence_;
  LruMap<std::deque<Duration>, kMostWorkloads> ended_;  // the oldest first
};

}  // namespace synergy
