// Compares the CPU time of Gavel's policies with that of the authors' programs: scripts/bench.sh
// gavel.

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "bench/rounds/results.h"
#include "config/text_file.h"
#include "core/random.h"
#include "gavel/policies/policies.h"
#include "research/gavel/gavel_input.h"
#include "sim/csv.h"

namespace synergy::bench {
namespace {

constexpr int kRepeats = 3;
constexpr size_t kEntities = 4;

template <class Value>
Value OrEnd(Result<Value> result) {
  if (result) return *std::move(result);
  fmt::print(stderr, "{}\n", result.error().message);
  std::exit(EXIT_FAILURE);
}

double CpuSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// The proportions are those of the authors' measurement: for each of three types, a quarter as many
// GPUs as jobs.
GavelProblem Problem(size_t jobs, bool packed) {
  const GavelThroughputs throughputs = GavelThroughputs::Published();
  Random random(jobs);
  GavelProblem problem{.types = {"k80", "p100", "v100"},
                       .gpus = std::vector<double>(3, static_cast<double>(jobs) / 4),
                       .costs = {0.135, 0.43, 0.74},
                       .jobs = {},
                       .pairs = {},
                       .entities = std::vector<GavelEntity>(kEntities)};
  const std::vector<std::string> all = throughputs.Models(1, "v100");
  std::vector<std::string> models;
  for (size_t i = 0; i < jobs; ++i) {
    models.push_back(all[random.Below(all.size())]);
    GavelJob& job = problem.jobs.emplace_back();
    job.name = fmt::format("{}", i);
    job.throughput = OrEnd(throughputs.Of(models.back(), 1, problem.types));
    const double duration = 3600 * (1 + 20 * random.Uniform());
    job.steps_left = BestThroughput(job) * duration;
    job.deadline = duration * (2 + 8 * random.Uniform());
    job.waited = 3600 * random.Uniform();
    problem.entities[i % kEntities].jobs.push_back(i);
  }
  for (size_t first = 0; packed && first < jobs; ++first) {
    for (size_t second = first + 1; second < jobs; ++second) {
      const auto rates = throughputs.OfPair(models[first], models[second], problem.types);
      if (!rates) continue;
      problem.pairs.push_back({.first = first, .second = second, .throughput = *rates});
    }
  }
  return problem;
}

// Returns jobs with arbitrary throughputs on eight types.
GavelProblem Large() {
  constexpr size_t kJobs = 4096;
  constexpr size_t kTypes = 8;
  Random random(1);
  GavelProblem problem{
      .types = {}, .gpus = {}, .costs = {}, .jobs = {}, .pairs = {}, .entities = {}};
  for (size_t type = 0; type < kTypes; ++type) {
    problem.types.push_back(fmt::format("type{}", type));
    problem.gpus.push_back(128);
  }
  for (size_t i = 0; i < kJobs; ++i) {
    GavelJob& job = problem.jobs.emplace_back();
    job.name = fmt::format("{}", i);
    for (size_t type = 0; type < kTypes; ++type)
      job.throughput.push_back((1 + static_cast<double>(type)) * (0.3 + random.Uniform()));
  }
  return problem;
}

// CPU seconds; the minimum of several runs.
struct SolveTimes {
  double first = 1e300;
  double again = 1e300;  // the same policy again, after the first job has changed
};

SolveTimes Measure(const std::string& policy, const GavelProblem& problem) {
  GavelProblem next = problem;
  next.jobs.front().throughput = problem.jobs.back().throughput;
  SolveTimes times;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    const auto made = OrEnd(MakeGavelPolicy(policy));
    const double begin = CpuSeconds();
    OrEnd(made->Allocate(problem));
    const double between = CpuSeconds();
    OrEnd(made->Allocate(next));
    times.first = std::min(times.first, between - begin);
    times.again = std::min(times.again, CpuSeconds() - between);
  }
  return times;
}

int Run(const std::string& folder, const std::string& json, int64_t most_jobs) {
  Results results;
  const std::string file = folder + "/authors.csv";
  const std::string text = OrEnd(config::ReadTextFile(file));
  const CsvTable authors = OrEnd(CsvTable::Parse(text, file));
  fmt::print("{:<52}{:>7}{:>12}{:>12}{:>12}{:>9}\n", "policy", "jobs", "authors s", "ours s",
             "again s", "ratio");
  for (size_t row = 0; row < authors.rows(); ++row) {
    const std::string policy(authors.At(row, 0).text);
    const int64_t jobs = OrEnd(authors.At(row, 1).WholeNumber(1));
    const double theirs = OrEnd(authors.At(row, 2).Number(0));
    if (jobs > most_jobs) continue;
    const bool packed = policy.find("_packed") != std::string::npos;
    const SolveTimes ours = Measure(policy, Problem(static_cast<size_t>(jobs), packed));
    const double ratio = ours.first / theirs;
    fmt::print("{:<52}{:>7}{:>12.5f}{:>12.5f}{:>12.5f}{:>9.3f}\n", policy, jobs, theirs, ours.first,
               ours.again, ratio);
    std::fflush(stdout);
    const std::string name = fmt::format("{} {} jobs", policy, jobs);
    results.Figure(name + " s", ours.first);
    results.Figure(name + " again s", ours.again);
    results.Check({name + ": of the authors' time", ratio, packed ? 1 : 0.1});
  }
  if (most_jobs >= 4096) {
    const SolveTimes large = Measure("max_min_fairness_perf", Large());
    results.Figure("max_min_fairness_perf 4096 jobs on 8 types again s", large.again);
    results.Check({"max_min_fairness_perf 4096 jobs on 8 types: s", large.first, 1});
  }
  return results.Report(json);
}

}  // namespace
}  // namespace synergy::bench

int main(int argc, char** argv) {
  CLI::App app("Compares the CPU time of Gavel's policies with that of the authors' programs");
  std::string folder;
  std::string json;
  int64_t most_jobs = 4096;
  app.add_option("--data", folder, "tests/bench/gavel")->required();
  app.add_option("--json", json);
  app.add_option("--jobs", most_jobs, "only problems of at most so many jobs")
      ->check(CLI::Range(1, 1'000'000));
  CLI11_PARSE(app, argc, argv);
  return synergy::bench::Run(folder, json, most_jobs);
}
