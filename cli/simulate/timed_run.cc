#include "cli/simulate/timed_run.h"

#include <ctime>

#include "core/clock.h"

namespace synergy::cli {
namespace {

double CpuSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace

Result<RunResult> TimedRun(RunResult result, const JobWindow& window,
                           const std::function<Result<>(RunResult&)>& simulate) {
  const Instant begin = SystemClock().Now();
  const double cpu = CpuSeconds();
  const auto done = simulate(result);
  if (!done) return Fail(done.error());
  result.cpu_seconds = CpuSeconds() - cpu;
  result.wall_seconds = Seconds(SystemClock().Now() - begin).count();
  result.statistics = Summarize(result.jobs, window);
  return result;
}

}  // namespace synergy::cli
