#include "cli/simulate/failures/failure_report.h"

#include <fmt/format.h>

#include "cli/text/terminal.h"

namespace synergy::cli {
namespace {

double Hours(Seconds time) { return time.count() / 3600; }

}  // namespace

std::vector<std::pair<const char*, std::string>> FailureColumns(const RunResult& run) {
  const FailureFigures figures = run.failures.value_or(FailureFigures{});
  const auto count = [](uint64_t number) { return fmt::format("{}", number); };
  const auto hours = [](Seconds time) { return fmt::format("{}", Hours(time)); };
  return {{"trials", count(figures.trials)},
          {"failed_jobs", count(figures.failed_jobs)},
          {"stopped_jobs", count(figures.stopped_jobs)},
          {"caught_jobs", count(figures.caught_jobs)},
          {"preruns", count(figures.preruns)},
          {"mean_passed_jct_hours", hours(run.mean_passed)},
          {"busy_gpu_hours", hours(figures.busy)},
          {"useful_gpu_hours", hours(figures.useful)},
          {"lost_gpu_hours", hours(figures.Lost())},
          {"lost_gpu_hours_user", hours(figures.LostBy(Cause::kUser))},
          {"lost_gpu_hours_engine", hours(figures.LostBy(Cause::kEngine))},
          {"lost_gpu_hours_infrastructure", hours(figures.LostBy(Cause::kInfrastructure))},
          {"lost_gpu_hours_unknown", hours(figures.LostBy(Cause::kUnknown))},
          {"prerun_gpu_hours", hours(figures.prerun)}};
}

std::string ToFailureTable(std::span<const RunResult> runs) {
  std::vector<std::vector<std::string>> rows{
      {"workload", "load", "policy", "mechanism", "trials", "failed", "stopped", "caught",
       "mean JCT of passed, h", "useful GPU h", "lost: user", "lost: engine",
       "lost: infrastructure", "lost: unknown", "pre-runs GPU h"}};
  for (const RunResult& run : runs) {
    if (!run.failures) continue;
    const FailureFigures& figures = *run.failures;
    const auto hours = [](Seconds time) { return fmt::format("{:.1f}", Hours(time)); };
    rows.push_back({run.workload, fmt::format("{}", run.load), run.policy, run.mechanism,
                    fmt::format("{}", figures.trials), fmt::format("{}", figures.failed_jobs),
                    fmt::format("{}", figures.stopped_jobs), fmt::format("{}", figures.caught_jobs),
                    fmt::format("{:.3f}", Hours(run.mean_passed)), hours(figures.useful),
                    hours(figures.LostBy(Cause::kUser)), hours(figures.LostBy(Cause::kEngine)),
                    hours(figures.LostBy(Cause::kInfrastructure)),
                    hours(figures.LostBy(Cause::kUnknown)), hours(figures.prerun)});
  }
  return rows.size() == 1 ? std::string() : '\n' + FormatTable(rows);
}

}  // namespace synergy::cli
