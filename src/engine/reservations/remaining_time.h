#pragma once

// Predicts when trainings end. The predictions are intervals, calibrated by trainings that have
// ended. The estimate for a running training is its remaining iterations at the present rate. Its
// errors recur in a workload: early stopping, unknown epochs, evaluation, slow phases.
//
//   EstimateMade()  records estimates of a running training, at growing intervals
//   Ended()         computes the ratio of each estimate: true / estimated remaining time
//   EndOf()         multiplies an estimate by quantiles of these ratios: of its workload, of all
//                   workloads if its own has too few, or a prior at first
//
// An interval holds for a training if it holds at each of its recorded estimates. If clearly fewer
// of a workload's latest trainings stayed within their intervals than the confidence requires, the
// workload gets no intervals until enough trainings do again.
//
// Source: split conformal prediction (Vovk et al., 2005), with trainings as the samples.
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
  static constexpr size_t kLeastEnded = 5;  // trainings of a workload before its own ratios count
  static constexpr size_t kMostEnded = 40;
  static constexpr size_t kMostEstimates = 16;
  static constexpr size_t kMostWorkloads = 1000;

  // `confidence`: the fraction of trainings that end within their intervals. REQUIRES: 0 <
  // confidence < 1.
  explicit RemainingTimes(double confidence) : confidence_(confidence) {}

  // Records that the training is estimated to take `remaining` more. Ignores estimates below a
  // minute. A training keeps its first workload.
  void EstimateMade(const std::string& training, const std::string& workload, Duration remaining,
                    Instant now);
  // Records that the training ended by itself, even if not at the iteration that its log announced.
  void Ended(const std::string& training, Instant now);
  // Drops a training that was interrupted, or about which nothing more is known, because it does
  // not predict others.
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
    Instant next{};  // when to record the next estimate
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
