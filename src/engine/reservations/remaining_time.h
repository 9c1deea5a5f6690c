#pragma once

// Predicts when trainings end, as intervals calibrated by trainings that have ended. The estimate
// for a running training (its remaining iterations at the present rate) is wrong in ways that its
// workload repeats: early stopping, unknown epochs, evaluation, slow phases.
//
//   EstimateMade()  records estimates of a running training, at growing distances
//   Ended()         how wrong each was: true / estimated remaining time
//   EndOf()         the estimate, times the quantiles of these ratios: first those of its workload,
//                   while that has too few those of all workloads, and at first a prior
//
// An interval holds for a training if it holds at each of its recorded estimates. A workload is
// unknown if clearly fewer of its latest trainings stayed within their intervals than the
// confidence states; it gets no interval until they do again.
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

  // `confidence`: the fraction of trainings that end within their intervals. REQUIRES: 0 <
  // confidence < 1.
  explicit RemainingTimes(double confidence) : confidence_(confidence) {}

  // Ignores estimates below a minute. A training keeps its first workload.
  void EstimateMade(const std::string& training, const std::string& workload, Duration remaining,
                    Instant now);
  // Records that the training ended on its own, whether or not at the time that its log predicted.
  void Ended(const std::string& training, Instant now);
  // Forgets a training that was interrupted, or runs for unknown reasons: it does not predict
  // others.
  void Forget(const std::string& training) { running_.erase(training); }

  // Returns when a training whose estimate is `remaining` ends; nullopt if unknown.
  std::optional<TimeRange> EndOf(const std::string& workload, Duration remaining,
                                 Instant now) const;
  // Returns whether the intervals of that workload hold.
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
    bool held = false;  // the interval at that time contained the ratios
  };
  struct History {
    std::deque<EndedTraining> trainings;
    Ratios ratios;      // of at least kLeastEnded trainings
    bool holds = true;  // the intervals of enough of them hold
  };

  const Ratios& RatiosFor(const std::string& workload) const;
  void Add(const EndedTraining& ended, History& history) const;

  const double confidence_;
  std::unordered_map<std::string, Running> running_;
  LruMap<History, kMostWorkloads> histories_;
  History all_;
};

}  // namespace synergy
