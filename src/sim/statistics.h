#pragma once

// What a simulated run amounts to: completion times over a window of job ids, which leaves out the
// warm-up and the end of a long run.
//
// Threading: pure.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "core/clock.h"
#include "core/result.h"

namespace synergy {

// Jobs with first <= id < end.
struct JobWindow {
  int64_t first = 0;
  int64_t end = std::numeric_limits<int64_t>::max();

  bool Contains(int64_t id) const { return first <= id && id < end; }
};

// "4000:5000". kInvalid where it is not two whole numbers, the second above the first.
Result<JobWindow> ParseJobWindow(std::string_view text);

struct JobTimes {
  int64_t id = 0;
  Seconds submitted{};
  std::optional<Seconds> started;   // for the first time
  std::optional<Seconds> finished;  // none: the run ended first
  // When the first 100 iterations were done, or all of fewer; none: nobody knows.
  std::optional<Seconds> first_iterations;
};

// Completion time is from submission to finish. Times are zero where no job of the window has
// finished.
struct RunStatistics {
  size_t measured = 0;    // jobs of the window that have finished
  size_t unfinished = 0;  // the window's other jobs: in no figure
  Seconds mean{};
  Seconds p50{}, p95{}, p99{}, p999{};  // interpolated between neighbours, as numpy and pandas do
  Seconds makespan{};                   // from the window's first submission to its last finish
  Seconds mean_wait{};                  // from submission to first start
  // From submission to the first 100 iterations, Gandiva's measure (OSDI'18); none: where it is not
  // known of a job.
  std::optional<Seconds> mean_first_iterations;
};

RunStatistics Summarize(std::span<const JobTimes> jobs, const JobWindow& window);

}  // namespace synergy
