// Compares our answer to every input in tests/data/gavel with that of the authors' programs:
// objectives and, if the optimum is unique, the allocation or the resulting throughputs. Every
// answer must be possible: no GPU is given twice, and no job has more than all of its time.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "config/text_file.h"
#include "gavel/policies/policies.h"
#include "json/document.h"
#include "json/writer.h"
#include "research/lab/gavel_input.h"

namespace synergy::testing {
namespace {

using json::Value;

constexpr double kObjective = 1e-5;
constexpr double kThroughput = 1e-4;
constexpr double kPossible = 1e-6;

double NumberOf(Value value) {
  double number = NAN;
  std::from_chars(value.text().data(), value.text().data() + value.text().size(), number);
  return number;
}

void ExpectNear(double got, double wanted, double relative, const std::string& what) {
  EXPECT_NEAR(got, wanted, relative * std::max(std::abs(wanted), relative)) << what;
}

// Checks the sums of GPUs and of each job's time, including shared GPUs.
void ExpectPossible(const GavelProblem& problem, const GavelShares& shares) {
  std::vector<double> times(problem.jobs.size(), 0);
  for (size_t type = 0; type < problem.types.size(); ++type) {
    double gpus = 0;
    for (size_t job = 0; job < problem.jobs.size(); ++job) {
      const double share = shares.jobs[job][type];
      EXPECT_GE(share, -kPossible);
      gpus += share * problem.jobs[job].gpus;
      times[job] += share;
    }
    for (size_t i = 0; i < shares.pairs.size(); ++i) {
      const double share = shares.pairs[i][type];
      EXPECT_GE(share, -kPossible);
      gpus += share * problem.jobs[problem.pairs[i].first].gpus;
      times[problem.pairs[i].first] += share;
      times[problem.pairs[i].second] += share;
    }
    EXPECT_LE(gpus, problem.gpus[type] + kPossible) << problem.types[type];
  }
  for (size_t job = 0; job < times.size(); ++job)
    EXPECT_LE(times[job], 1 + kPossible) << problem.jobs[job].name;
}

std::string PairName(const GavelProblem& problem, const GavelPair& pair) {
  return problem.jobs[pair.first].name + "," + problem.jobs[pair.second].name;
}

void ExpectSameShares(const GavelProblem& problem, const GavelShares& shares, Value wanted) {
  const auto compare = [&](const std::string& name, const std::vector<double>& row) {
    for (size_t type = 0; type < row.size(); ++type) {
      const Value share = wanted[name][problem.types[type]];
      EXPECT_NEAR(row[type], share.missing() ? 0 : NumberOf(share), 1e-12)
          << name << " on " << problem.types[type];
    }
  };
  for (size_t job = 0; job < shares.jobs.size(); ++job)
    compare(problem.jobs[job].name, shares.jobs[job]);
  for (size_t pair = 0; pair < shares.pairs.size(); ++pair)
    compare(PairName(problem, problem.pairs[pair]), shares.pairs[pair]);
}

void ExpectAnswer(const GavelProblem& problem, const GavelAnswer& answer, Value wanted) {
  ExpectPossible(problem, answer.shares);
  if (!wanted["allocation"].missing())
    ExpectSameShares(problem, answer.shares, wanted["allocation"]);
  if (const Value least = wanted["exact_T_star"]; !least.missing()) {
    EXPECT_GE(*answer.objective, NumberOf(least) * (1 - kObjective));
    EXPECT_LE(*answer.objective, NumberOf(least) * 1.05);
  }
  if (const Value rho = wanted["exact_rho"]; !rho.missing())
    ExpectNear(*answer.objective, NumberOf(rho), kObjective, "rho");
  const std::vector<double> throughputs = ThroughputsOf(problem, answer.shares);
  for (size_t job = 0; job < problem.jobs.size(); ++job) {
    const std::string& name = problem.jobs[job].name;
    if (const Value level = wanted["normalized_effective_throughputs"][name]; !level.missing()) {
      EXPECT_NEAR(throughputs[job] / ProportionalThroughput(problem, job), NumberOf(level),
                  kThroughput * std::max(NumberOf(level), 0.01))
          << name;
    }
    if (const Value time = wanted["time_shares"][name]; !time.missing()) {
      const std::vector<double>& row = answer.shares.jobs[job];
      ExpectNear(std::accumulate(row.begin(), row.end(), 0.0), NumberOf(time), kThroughput, name);
    }
  }
  const Value objective = wanted["objective"];
  if (objective.missing()) return;
  const double theirs = NumberOf(objective);
  ExpectNear(*answer.objective, theirs, kObjective, "objective");
  // No deadline of these inputs can be kept, so it is right to give up all of them.
  const bool all_given_up = wanted["infeasible_slo_fallback"].truth();
  size_t deadlines = 0;
  wanted["SLOs"].ForEachMember([&](std::string_view, Value) { ++deadlines; });
  EXPECT_EQ(answer.missed.size(), all_given_up ? deadlines : 0);
}

class GavelVectors : public ::testing::TestWithParam<const char*> {};

TEST_P(GavelVectors, AnsweredAsTheAuthorsProgram) {
  const Result<std::string> text =
      config::ReadTextFile(fmt::format("{}/gavel/{}.json", SYNERGY_TEST_DATA, GetParam()));
  ASSERT_TRUE(text) << text.error().message;
  const Result<json::Document> document = json::Document::Parse(*text);
  ASSERT_TRUE(document) << document.error().message;
  size_t inputs = 0;
  document->root().ForEachElement([&](Value each) {
    SCOPED_TRACE(fmt::format("input {}", inputs++));
    std::string one;
    json::AppendValue(one, each);
    const Result<cli::GavelInput> input = cli::ReadGavelInput(one);
    ASSERT_TRUE(input) << input.error().message;
    const auto policy = MakeGavelPolicy(GetParam());
    ASSERT_TRUE(policy) << policy.error().message;
    std::vector<Value> wanted;
    each["calls"].ForEachElement([&](Value call) { wanted.push_back(call); });
    if (wanted.empty()) wanted.push_back(each);
    ASSERT_EQ(wanted.size(), input->problems.size());
    for (size_t call = 0; call < wanted.size(); ++call) {
      SCOPED_TRACE(fmt::format("call {}", call));
      const Result<GavelAnswer> answer = (*policy)->Allocate(input->problems[call]);
      ASSERT_TRUE(answer) << answer.error().message;
      ExpectAnswer(input->problems[call], *answer, wanted[call]);
    }
  });
  EXPECT_EQ(inputs, 6U);
}

INSTANTIATE_TEST_SUITE_P(
    All, GavelVectors,
    ::testing::Values("fifo_packed", "fifo_perf", "finish_time_fairness",
                      "finish_time_fairness_packed", "finish_time_fairness_perf",
                      "hierarchical_perf", "isolated", "max_min_fairness",
                      "max_min_fairness_packed", "max_min_fairness_perf",
                      "max_min_fairness_water_filling", "max_min_fairness_water_filling_packed",
                      "max_min_fairness_water_filling_perf",
                      "max_sum_throughput_normalized_by_cost_packed_SLOs",
                      "max_sum_throughput_normalized_by_cost_perf",
                      "max_sum_throughput_normalized_by_cost_perf_SLOs", "max_sum_throughput_perf",
                      "min_total_duration", "min_total_duration_packed", "min_total_duration_perf"),
    [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace synergy::testing
