#include "gavel/problem.h"

#include <algorithm>

#include <fmt/format.h>

namespace synergy {
namespace {

constexpr std::string_view kReferenceType = "v100";

size_t ReferenceType(const GavelProblem& problem) {
  const auto named = std::find(problem.types.begin(), problem.types.end(), kReferenceType);
  if (named != problem.types.end()) return static_cast<size_t>(named - problem.types.begin());
  size_t best = 0;
  double most = -1;
  for (size_t type = 0; type < problem.types.size(); ++type) {
    double sum = 0;
    for (const GavelJob& job : problem.jobs) sum += job.throughput[type];
    if (sum > most) {
      best = type;
      most = sum;
    }
  }
  return best;
}

}  // namespace

GavelProblem Seen(const GavelProblem& problem, GavelView view, GavelUniform uniform) {
  GavelProblem seen = problem;
  if (view == GavelView::kPacked) {
    for (GavelPair& pair : seen.pairs) {
      if (problem.jobs[pair.first].gpus == problem.jobs[pair.second].gpus) continue;
      std::fill(pair.throughput.begin(), pair.throughput.end(), std::array<double, 2>{0, 0});
    }
    return seen;
  }
  seen.pairs.clear();
  if (view == GavelView::kAware) return seen;
  const size_t reference = ReferenceType(problem);
  for (GavelJob& job : seen.jobs) {
    double all = uniform == GavelUniform::kOne ? 1 : job.throughput[reference];
    // A job that cannot run on the reference type counts with its best type.
    if (all <= 0) all = BestThroughput(job);
    std::fill(job.throughput.begin(), job.throughput.end(), all);
  }
  return seen;
}

GavelShares NoShares(const GavelProblem& problem) {
  const std::vector<double> none(problem.types.size(), 0);
  return {.jobs = {problem.jobs.size(), none}, .pairs = {problem.pairs.size(), none}};
}

std::vector<double> ThroughputsOf(const GavelProblem& problem, const GavelShares& shares) {
  std::vector<double> throughputs(problem.jobs.size(), 0);
  for (size_t type = 0; type < problem.types.size(); ++type) {
    for (size_t job = 0; job < problem.jobs.size(); ++job) {
      throughputs[job] += problem.jobs[job].throughput[type] * shares.jobs[job][type];
    }
    for (size_t i = 0; i < problem.pairs.size(); ++i) {
      const GavelPair& pair = problem.pairs[i];
      throughputs[pair.first] += pair.throughput[type][0] * shares.pairs[i][type];
      throughputs[pair.second] += pair.throughput[type][1] * shares.pairs[i][type];
    }
  }
  return throughputs;
}

double ProportionalThroughput(const GavelProblem& problem, size_t job) {
  double sum = 0;
  double gpus = 0;
  for (size_t type = 0; type < problem.types.size(); ++type) {
    sum += problem.jobs[job].throughput[type] * problem.gpus[type];
    gpus += problem.gpus[type];
  }
  return sum / gpus;
}

double BestThroughput(const GavelJob& job) {
  return *std::max_element(job.throughput.begin(), job.throughput.end());
}

Result<> CheckThroughputs(const GavelProblem& problem) {
  for (size_t job = 0; job < problem.jobs.size(); ++job) {
    if (ProportionalThroughput(problem, job) > 0) continue;
    return Fail(ErrorCode::kInvalid,
                fmt::format("throughputs[\"{}\"]: 0 on every type that has GPUs; leave the job out",
                            problem.jobs[job].name));
  }
  return {};
}

Result<> CheckStepsLeft(const GavelProblem& problem) {
  for (const GavelJob& job : problem.jobs) {
    if (job.steps_left) continue;
    return Fail(ErrorCode::kInvalid,
                fmt::format("num_steps_remaining[\"{}\"]: missing; the policy needs the iterations "
                            "that are left",
                            job.name));
  }
  return {};
}

}  // namespace synergy
