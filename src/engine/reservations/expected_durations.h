#pragma once

// Predicts how long trainings take from their users' estimates (annotation
// synergy.io/expected-duration) and the accuracy of earlier estimates in the same namespace.
//
// A namespace's estimates are used unchanged until a training overruns one of them. From then on,
// they are multiplied by a factor, so that the next training ends within the result with the given
// confidence (prediction_bound.h). The factor depends on the scale of the estimate: the power of
// two hours below it. Estimates of a scale with too few known trainings are not used. So after
// wrong estimates, a namespace's estimates are used again only after correct estimates of the same
// scale, not after many short trainings. A training that ends long before its estimate proves
// nothing.
//
// Threading: one owner. Memory: kMostEnded ratios for each scale, kMostNamespaces namespaces.

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "core/clock.h"
#include "engine/reservations/lru_map.h"

namespace synergy {

class ExpectedDurations {
 public:
  static constexpr size_t kMostEnded = 40;
  static constexpr size_t kMostNamespaces = 1000;
  // A training that takes less than this fraction of its estimate proves nothing.
  static constexpr double kLeastPart = 0.25;

  struct Run {
    Duration expected{};  // more than zero
    Duration ran{};
  };

  // `confidence`: the fraction of trainings that end within the time that LongestOf() returns.
  // REQUIRES: 0 < confidence < 1.
  explicit ExpectedDurations(double confidence) : confidence_(confidence) {}

  // Records that a training of that namespace has ended. `completed`: the training ended on its
  // own; otherwise it counts only if it overran its estimate.
  void Ended(const std::string& of_namespace, const Run& run, bool completed);
  // Returns the time within which a training with this estimate ends, with the given confidence;
  // nullopt if the estimate is not used. `running`: the namespace's running trainings that have
  // estimates.
  std::optional<Duration> LongestOf(const std::string& of_namespace, Duration expected,
                                    std::span<const Run> running) const;

 private:
  struct Known {
    std::map<int, std::deque<double>> ratios;  // by scale, oldest first
    bool has_overrun = false;
  };

  const double confidence_;
  LruMap<Known, kMostNamespaces> known_;  // by namespace
};

}  // namespace synergy
