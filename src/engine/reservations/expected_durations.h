#pragma once

// Says how long trainings take, by their users' estimates (annotation synergy.io/expected-duration)
// and by how well the estimates of the same namespace have held.
//
// A namespace's estimates are believed as they are until a training overruns one of them. From then
// on they are lengthened: by the factor within which the next one stays with the confidence
// (prediction_bound.h), of estimates of the same scale (from one power of two hours to the next).
// Where too few of that scale are known, they are not believed. So a tenant that errs, or lies,
// gets its trust back by estimates of that scale that hold, not by many short trainings. A training
// that ends long before its estimate proves nothing.
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
  // A training that takes less than this part of its estimate proves nothing.
  static constexpr double kLeastPart = 0.25;

  struct Run {
    Duration expected{};  // more than zero
    Duration ran{};
  };

  // `confidence`: the part of trainings that end in the time that LongestOf() says. REQUIRES: 0 <
  // it < 1.
  explicit ExpectedDurations(double confidence) : confidence_(confidence) {}

  // A training of that namespace has ended. `completed`: by itself; otherwise it counts only if it
  // has overrun its estimate.
  void Ended(const std::string& of_namespace, const Run& run, bool completed);
  // Returns the time in which a training with this estimate ends with the confidence; nullopt: the
  // estimate is not believed. `running`: the namespace's running trainings that have estimates.
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
