#include "research/lab/gavel_command.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace synergy::cli {
namespace {

using ::testing::HasSubstr;

GavelSolved Solved() {
  GavelSolved solved;
  solved.problem.types = {"k80", "v100"};
  solved.problem.jobs.resize(2);
  solved.problem.jobs[0].name = "0";
  solved.problem.jobs[1].name = "1";
  solved.problem.pairs = {{.first = 0, .second = 1, .throughput = {}}};
  solved.answer = {.objective = 2.5, .shares = {.jobs = {{1, 0}, {0, 0.5}}, .pairs = {{0, 0.25}}}};
  return solved;
}

TEST(GavelCommand, WritesObjectiveAndAllocation) {
  EXPECT_EQ(ToJson(std::vector{Solved()}, false),
            R"({"objective":2.5,"allocation":{"0":{"k80":1,"v100":0},"1":{"k80":0,"v100":0.5},)"
            R"("0,1":{"k80":0,"v100":0.25}},"infeasible_SLOs":[]})"
            "\n");
}

TEST(GavelCommand, WritesAListForCallsAndNullWithoutObjective) {
  GavelSolved solved = Solved();
  solved.answer.objective.reset();
  solved.answer.missed = {1};
  const std::string json = ToJson(std::vector{solved, solved}, true);
  EXPECT_THAT(json, HasSubstr(R"([{"objective":null)"));
  EXPECT_THAT(json, HasSubstr(R"("infeasible_SLOs":["1"]},{)"));
  EXPECT_THAT(ToText(std::vector{solved}), HasSubstr("the deadline of job 1 cannot be kept"));
}

TEST(GavelCommand, RefusesWhatMakesNoSense) {
  const synergy::testing::TemporaryFolder folder;
  const std::string file =
      folder.Write("input.json", R"({"cluster_spec": {"a": 1}, "throughputs": {"0": {"a": -1}}})");
  const auto error = [&](const std::string& policy, const std::string& input) {
    const Result<> done = RunGavelSolve({.policy = policy, .input = input});
    return done ? "no error" : done.error().message;
  };
  EXPECT_THAT(error("isolated", file), HasSubstr("input.json: throughputs"));
  EXPECT_THAT(error("none", file), HasSubstr("unknown policy 'none'"));
  EXPECT_THAT(error("isolated", file + ".gone"), HasSubstr("cannot read"));
}

}  // namespace
}  // namespace synergy::cli
