#include "cli/simulate/figures/gang_figures.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "cli/text/terminal.h"

namespace synergy::cli {

GangFigures FiguresOfGangs(const RunResult& run) {
  GangFigures figures;
  for (size_t at = 0; at < run.job_places.size(); ++at) {
    const JobPlace& place = run.job_places[at];
    const JobTimes& job = run.jobs[at];
    if (!place.tier || !job.started || !job.finished) continue;
    ++figures.gangs;
    figures.over_nodes += *place.tier == SpreadTier::kNode ? 0 : 1;
    figures.over_racks += *place.tier == SpreadTier::kAnywhere ? 1 : 0;
    figures.mean_completion += *job.finished - job.submitted;
    figures.mean_wait += *job.started - job.submitted;
    figures.mean_locality_wait += place.waited_for_locality;
  }
  const double gangs = std::max(static_cast<double>(figures.gangs), 1.0);
  figures.over_nodes /= gangs;
  figures.over_racks /= gangs;
  figures.mean_completion /= gangs;
  figures.mean_wait /= gangs;
  figures.mean_locality_wait /= gangs;
  return figures;
}

std::string ToGangTable(std::span<const RunResult> runs) {
  std::vector<std::vector<std::string>> rows{{"workload", "load", "policy", "mechanism", "gangs",
                                              "over nodes", "over racks", "mean h", "wait h",
                                              "for locality h", "idle for gangs"}};
  for (const RunResult& run : runs) {
    const GangFigures figures = FiguresOfGangs(run);
    if (figures.gangs == 0) continue;
    const auto hours = [](Seconds time) { return fmt::format("{:.3f}", time.count() / 3600); };
    const auto percent = [](double part) { return fmt::format("{:.1f} %", part * 100); };
    rows.push_back({run.workload, fmt::format("{}", run.load), run.policy, run.mechanism,
                    fmt::format("{}", figures.gangs), percent(figures.over_nodes),
                    percent(figures.over_racks), hours(figures.mean_completion),
                    hours(figures.mean_wait), hours(figures.mean_locality_wait),
                    percent(run.kept_idle)});
  }
  return rows.size() == 1 ? std::string() : '\n' + FormatTable(rows);
}

}  // namespace synergy::cli
