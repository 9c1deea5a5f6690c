#pragma once

// Says when trainings end, as intervals that are calibrated by the trainings that have ended. The
// estimate of a running training (its remaining iterations at the present rate) is wrong in ways
// that its workload repeats: early stopping, unknown epochs, evaluation, slow phases.
//
//   EstimateMade()  records estimates of a running training, at growing distances
//   Ended()         how wrong each was: true / estimated remaining time
//   EndOf()         the estimate, times the quantiles of these ratios: first those of its workload,
//                   while that has too few those of all workloads, and at first a prior
//
// An interval holds for a training if it holds at each of its recorded estimates. A workload whose
// intervals held for clearly fewer of its last trainings than the confidence says is unknown: it
// gets no interval until they hold again.
//
// Source: split conformal prediction (Vovk et al., 2005), with a training as the unit.
//
// Threading: one owner. Memory: kMostEstimates for each running training, kMostEnded ended ones for
// each workload, kMostWorkloads workloads.

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/clock.h"
#include "engine/reservations/gpu_reservations.h"
#include "engine/reservations/lru_map.h"

namespace synergy {

class RemainingTimes {
 public:
  static constexpr double kConfidence = 0.8;
  static constexpr size_t kLeastEnded = 5;  // of a workload, before its own ratios count
  static constexpr size_t kMostEnded = 40;
  static constexpr size_t kMostEstimates = 16;
  static constexpr size_t kMostWorkloads = 1000;

  // `confidence`: the part of trainings that end within their intervals. REQUIRES: 0 < it < 1.
  explicit RemainingTimes(double confidence) : confidence_(confidence) {}

  // Estimates below a minute are not recorded. A training keeps its first workload.
  void EstimateMade(const std::string& training, const std::string& workload, Duration remaining,
                    Instant now);
  // The training has ended by itself, whether or not as early as its log said it would.
  void Ended(const std::string& training, Instant now);
  // The training was interrupted, or runs for unknown reasons: it says nothing about others.
  void Forget(const std::string& training) { running_.erase(training); }

  // Returns when a training ends whose estimate is `remaining`; nullopt: unknown.
  std::optional<TimeRange> EndOf(const std::string& workload, Duration remaining,
                                 Instant now) const;
  // Whether the intervals of that workload hold.
  bool Holds(const std::string& workload) const;

 private:
  struct Estimate {
    Instant at{};
    Duration remaining{};
  };
  struct Running {
    std::string workload;
    std::vector<Estimate> estimates;
    Instant next{};  // when the next estimate is recorded
  };
  // Factors on estimates.
  struct Ratios {
    double least = 1;
    double likely = 1;
    double most = 1;
  };
  struct EndedTraining {
    Ratios ratios;
    bool held = false;  // the interval of that time contained the ratios
  };
  struct History {
    std::deque<EndedTraining> trainings;
    Ratios ratios;      // of kLeastEnded trainings and more
    bool holds = true;  // so do the intervals of enough of them
  };

  const Ratios& RatiosFor(const std::string& workload) const;
  void Add(const EndedTraining& ended, History& history) const;

  const double confidence_;
  std::unordered_map<std::string, Running> running_;
  LruMap<History, kMostWorkloads> histories_;
  History all_;
};

}  // namespace synergy
