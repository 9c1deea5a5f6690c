#pragma once

// Decides whether to trust a job's own report of how long it still needs. The report comes from its
// log, and a job that reports "a minute" forever would always go first and never lose its turn. So
// each report is compared with how long the job has run since. A report is refuted once the job has
// run for twice as long as reported plus ten minutes and does not report half as much yet; the job
// is trusted again once it does. A job that reports at least twice as much as ever before starts
// over.
//
// Threading: a value.

#include <optional>

#include "core/clock.h"

namespace synergy {

class RemainingBelief {
 public:
  // Returns `told`, or nullopt if it is refuted. `ran`: how long the job has run in all.
  std::optional<Seconds> Hear(Seconds told, Seconds ran);
  bool refuted() const { return refuted_; }

 private:
  std::optional<Seconds> said_;  // the report that is being checked
  Seconds said_at_{};            // how long the job had run when it came
  Seconds most_{};               // the longest report so far
  bool refuted_ = false;
};

}  // namespace synergy
