#pragma once

// `synergy failures`: shows how often pods failed, and at what cost, by cause. Also shows the
// failed attempts of one job.
//
// Threading: pure.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/text/shown.h"
#include "cli/text/tree.h"
#include "cluster/pod_failure.h"
#include "core/clock.h"

namespace synergy::cli {

// Failures of one category, queue and user.
struct FailureSum {
  std::string of_namespace;
  std::string category;
  std::string queue;
  std::string user;
  int64_t failures = 0;
  double gpu_seconds = 0;  // used by the failed runs
  WallTime last{};
  // When the oldest kept failure of the namespace happened, if earlier ones were requested.
  std::optional<WallTime> kept_since;
};

// Counts records from `since` on. The most expensive come first.
std::vector<FailureSum> SumFailures(const std::vector<FailureHistory>& histories, WallTime since);
// Returns a note for each namespace that may have had more failures since then than are kept.
std::vector<std::string> NotesOnForgotten(const std::vector<FailureHistory>& histories,
                                          WallTime since);
Tree ToTree(const FailureSum& sum);
Shown ShowFailures(const std::vector<FailureSum>& sums, bool all_namespaces, WallTime now);

// The pods of a job that failed together; the cause comes first.
struct FailedAttempt {
  std::vector<FailureRecord> pods;
};

// Returns the attempts of the job, or of a pod without a job, by time.
std::vector<FailedAttempt> AttemptsOf(const std::vector<FailureHistory>& histories,
                                      const std::string& name);
Tree ToTree(const FailedAttempt& attempt);
// Returns the attempts as text; empty if there are none.
std::string AttemptsText(const std::vector<FailedAttempt>& attempts, WallTime now);

}  // namespace synergy::cli
