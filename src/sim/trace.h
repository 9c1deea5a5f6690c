#pragma once

// The jobs of a simulation: arrival times and amounts of work.
//
// Threading: pure. Failures: kInvalid with file, line, column and the cure.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "core/result.h"
#include "core/units.h"
#include "sim/csv.h"

namespace synergy {

struct TraceJob {
  int64_t id = 0;
  std::string model;
  Seconds arrival{};
  int64_t total_iterations = 0;
  Gpus gpus;
  // At the fair share, as measured by the trace's author; zero if the trace does not give it.
  Seconds iteration_time{};
  Seconds duration{};
  int32_t priority = 0;  // priority of its pods, as in a PriorityClass
};

// Parses CSV with the columns job_id, model, arrival_s, total_iterations, gpus and, where known,
// iter_time_s_at_fair, duration_s_at_fair and priority; other columns are ignored. Returns the jobs
// in the order of the file, which may differ from their order of arrival. `file_name` names the
// text in errors.
Result<std::vector<TraceJob>> ParseTrace(std::string_view text, std::string_view file_name);

// Reads the priority of a PriorityClass, from 0 to the most that users may give.
Result<int32_t> ReadPriority(const CsvTable::Field& field);

}  // namespace synergy
