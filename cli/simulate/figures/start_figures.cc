#include "cli/simulate/figures/start_figures.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "cli/text/terminal.h"

namespace synergy::cli {
namespace {

constexpr Seconds kLeastWait{60};

// Returns the smallest value that at least the fraction `part` of `sorted` does not exceed; 0 if
// `sorted` is empty.
double Quantile(const std::vector<double>& sorted, double part) {
  if (sorted.empty()) return 0;
  const double at = std::ceil(part * static_cast<double>(sorted.size()));
  return sorted[static_cast<size_t>(std::max(at, 1.0)) - 1];
}

// Returns the mean completion time in hours, by GPUs.
std::string MeansByGpus(const RunResult& run) {
  std::map<Gpus, std::pair<double, size_t>> sums;
  for (size_t at = 0; at < run.jobs.size(); ++at) {
    const JobTimes& job = run.jobs[at];
    if (!job.finished) continue;
    auto& [sum, count] = sums[run.job_gpus[at]];
    sum += (*job.finished - job.submitted).count() / 3600;
    ++count;
  }
  std::string text;
  for (const auto& [gpus, sum] : sums) {
    text += fmt::format("{}{}: {:.1f}", text.empty() ? "" : ", ", gpus.count(),
                        sum.first / static_cast<double>(sum.second));
  }
  return text;
}

}  // namespace

StartFigures FiguresOfStarts(const RunResult& run) {
  std::vector<double> errors;
  for (size_t at = 0; at < run.job_places.size(); ++at) {
    const auto& predicted = run.job_places[at].predicted;
    const JobTimes& job = run.jobs[at];
    if (!predicted || !job.started || *job.started - predicted->at < kLeastWait) continue;
    errors.push_back(std::abs((predicted->start - *job.started) / (*job.started - predicted->at)));
  }
  std::sort(errors.begin(), errors.end());
  return {errors.size(), Quantile(errors, 0.5), Quantile(errors, 0.9)};
}

std::string ToStartTable(std::span<const RunResult> runs) {
  std::vector<std::vector<std::string>> rows{
      {"workload", "load", "mechanism", "predicted", "error p50", "error p90", "mean h by GPUs"}};
  for (const RunResult& run : runs) {
    const StartFigures figures = FiguresOfStarts(run);
    if (figures.predicted == 0) continue;
    rows.push_back({run.workload, fmt::format("{}", run.load), run.mechanism,
                    fmt::format("{}", figures.predicted), fmt::format("{:.2f}", figures.p50),
                    fmt::format("{:.2f}", figures.p90), MeansByGpus(run)});
  }
  return rows.size() == 1 ? std::string() : '\n' + FormatTable(rows);
}

}  // namespace synergy::cli
