#pragma once

// Measures how fast a pod on a shared GPU trains while it runs, from its node agent's reports.
//
// A report contains the number of iterations, the time of the newest one, and the pod's total time
// of suspension. A *stretch* lies between the first and the newest iteration after a call of Begin:
//
//   begin    report      report               report
//   ---|--------|---i-------|---i----i-----------|---    i: an iteration
//                   first            newest
//                   |---- stretch ---|
//
// So only reports received after that call count, and the interval at which a training prints does
// not matter. The stretch's time excludes suspensions: an iteration can end a stretch only if no
// suspension ended between its report and the previous report.
//
// A stretch ends if a counter decreases, the agent restarts, reports have a gap, or the node's
// clock jumps. The next stretch begins afterwards.
//
// Threading: one owner.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "core/clock.h"
#include "profile/pod_progress.h"

namespace synergy {

class RunMeter {
 public:
  // The longest time between two reports of a stretch.
  static constexpr Duration kLongestGap = std::chrono::seconds(30);

  struct Stretch {
    Duration time{};
    double iterations = 0;
  };

  // Discards the stretch, and begins another one with the first report received at `from` or later.
  void Begin(Instant from);
  // Adds a report, unless it was added before. Returns false if the training or the agent has
  // restarted since the last report. REQUIRES: the report has a `turn`, and `received` does not
  // decrease.
  bool Observe(const KnownProgress& report, Instant received);

  Stretch stretch() const;
  // Begins the next stretch at the newest iteration.
  void Next() { first_ = newest_; }
  // Returns how long the pod has run since the report of its newest iteration, or since Begin.
  Duration silent() const;
  // Returns the largest increase of iterations between two consecutive reports.
  double largest_step() const { return largest_step_; }
  // Returns the iterations since the first report, or since the last restart.
  double iterations() const { return previous_ ? previous_->iterations - base_ : 0; }

 private:
  struct Report {
    Instant received;
    WallTime since{};
    std::string format;
    double iterations = 0;
    std::optional<int64_t> iteration;
    std::optional<double> epoch;
    Duration suspended{};
  };
  struct End {
    double iterations = 0;
    WallTime at{};  // by the node's clock
    Duration suspended{};
    Duration behind{};  // from `at` until the report was received, by two clocks
  };

  void Clear();
  void Extend(const Report& report, const KnownProgress& known);

  Instant from_{};
  std::optional<Report> previous_;
  double base_ = 0;
  double largest_step_ = 0;
  std::optional<Report> quiet_since_;
  Duration widest_gap_{};  // between reports of the stretch
  std::optional<End> first_;
  std::optional<End> newest_;
};

}  // namespace synergy
