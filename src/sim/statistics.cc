#include "sim/statistics.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>
#include <vector>

#include <fmt/format.h>

namespace synergy {
namespace {

// REQUIRES: `values` are ascending, and at least one.
double Quantile(const std::vector<double>& values, double part) {
  const double position = part * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(std::floor(position));
  const size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (values[above] - values[below]) * (position - static_cast<double>(below));
}

std::optional<int64_t> WholeNumber(std::string_view text) {
  int64_t number = 0;
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || stopped != text.data() + text.size() || number < 0)
    return std::nullopt;
  return number;
}

}  // namespace

Result<JobWindow> ParseJobWindow(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon != std::string_view::npos) {
    const auto first = WholeNumber(text.substr(0, colon));
    const auto end = WholeNumber(text.substr(colon + 1));
    if (first && end && *first < *end) return JobWindow{*first, *end};
  }
  return Fail(ErrorCode::kInvalid,
              fmt::format("\"{}\" is not a window of job ids: write FIRST:END, such as 4000:5000 "
                          "for the jobs 4000 to 4999",
                          text));
}

RunStatistics Summarize(std::span<const JobTimes> jobs, const JobWindow& window) {
  std::vector<double> times;
  size_t unfinished = 0;
  double sum = 0;
  double waits = 0;
  double first_iterations = 0;
  bool has_first_iterations = true;
  double first_submission = std::numeric_limits<double>::infinity();
  double last_finish = 0;
  for (const JobTimes& job : jobs) {
    if (!window.Contains(job.id)) continue;
    if (!job.finished) {
      ++unfinished;
      continue;
    }
    const double submitted = job.submitted.count();
    const double time = job.finished->count() - submitted;
    times.push_back(time);
    sum += time;
    waits += job.started.value_or(*job.finished).count() - submitted;
    has_first_iterations &= job.first_iterations.has_value();
    first_iterations += job.first_iterations.value_or(job.submitted).count() - submitted;
    first_submission = std::min(first_submission, submitted);
    last_finish = std::max(last_finish, job.finished->count());
  }
  if (times.empty()) return {.unfinished = unfinished};
  std::sort(times.begin(), times.end());
  const auto count = static_cast<double>(times.size());
  return {.measured = times.size(),
          .unfinished = unfinished,
          .mean = Seconds(sum / count),
          .p50 = Seconds(Quantile(times, 0.5)),
          .p95 = Seconds(Quantile(times, 0.95)),
          .p99 = Seconds(Quantile(times, 0.99)),
          .p999 = Seconds(Quantile(times, 0.999)),
          .makespan = Seconds(last_finish - first_submission),
          .mean_wait = Seconds(waits / count),
          .mean_first_iterations = has_first_iterations
                                       ? std::optional(Seconds(first_iterations / count))
                                       : std::nullopt};
}

}  // namespace synergy
