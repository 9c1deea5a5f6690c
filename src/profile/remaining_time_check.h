#pragma once

// Decides whether to trust a job's own report of its remaining time. The report comes from the
// job's log; a job that reported "a minute" forever would always go first and never lose its turn.
// So each report is compared with the job's running time since the report. A report is refuted if
// the job has run for twice the reported time plus ten minutes without reporting at most half of
// that time. Once it does so, the job is trusted again. A report of at least twice the longest time
// so far starts a new check.
//
// This file is separate because reservations and queues both use the check.
//
// Threading: one owner.

#include <optional>

#include "core/clock.h"

namespace synergy {

class RemainingTimeCheck {
 public:
  // Returns `reported`, or nullopt if it is refuted. `ran`: the job's total running time.
  std::optional<Seconds> Check(Seconds reported, Seconds ran);
  bool refuted() const { return refuted_; }

 private:
  std::optional<Seconds> claimed_;  // the report that is being checked
  Seconds claimed_at_{};            // the job's running time at that report
  Seconds most_{};                  // the longest report so far
  bool refuted_ = false;
};

}  // namespace synergy
