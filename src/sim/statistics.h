#pragma once

// Statistics of a simulated run: completion times of the jobs in a window of ids. The window can
// omit the warm-up and the end of a long run.
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

// Parses "4000:5000"; returns kInvalid unless it is two whole numbers, the second above the first.
Result<JobWindow> ParseJobWindow(std::string_view text);

struct JobTimes {
  int64_t id = 0;
  Seconds submitted{};
  std::optional<Seconds> started;   // the first start
  std::optional<Seconds> finished;  // absent: the run ended earlier
  // When the first 100 iterations were done (all of them, if the job has fewer); absent: unknown.
  std::optional<Seconds> first_iterations;
  Seconds ran{};       // JobRun::ran
  Seconds gpu_time{};  // JobRun::gpu_time
};

// Completion time is from submission to finish. Times are zero if no job of the window has
// finished.
struct RunStatistics {
  size_t measured = 0;    // finished jobs of the window
  size_t unfinished = 0;  // the window's other jobs, which no figure counts
  Seconds mean{};
  Seconds p50{}, p95{}, p99{}, p999{};  // interpolated between neighbours, as numpy and pandas do
  Seconds makespan{};                   // from the window's first submission to its last finish
  Seconds mean_wait{};                  // from submission to first start
  // From submission to the first 100 iterations, Gandiva's measure (OSDI'18). Absent: unknown for
  // at least one job.
  std::optional<Seconds> mean_first_iterations;
};

RunStatistics Summarize(std::span<const JobTimes> jobs, const JobWindow& window);

}  // namespace synergy
