#pragma once

// The jobs of a simulation: who arrives when, with how much work.
//
// Threading: pure. Failures: kInvalid with file, line, column and the cure.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "core/result.h"
#include "core/units.h"

namespace synergy {

struct TraceJob {
  int64_t id = 0;
  std::string model;
  Seconds arrival{};
  int64_t total_iterations = 0;
  Gpus gpus;
  // At the fair share, as the trace's author measured them; zero where the trace does not say.
  Seconds iteration_time{};
  Seconds duration{};
};

// CSV with the columns job_id, model, arrival_s, total_iterations, gpus and, where known,
// iter_time_s_at_fair and duration_s_at_fair; others are passed over. The jobs stay in the order of
// the file, which need not be that of arrival. `file_name` stands for the text in errors.
Result<std::vector<TraceJob>> ParseTrace(std::string_view text, std::string_view file_name);

}  // namespace synergy
