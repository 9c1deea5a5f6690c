#include "research/lab/gavel_input.h"

#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kGavelInput = R"({
  "note": "not ours", "entities": null, "jobs": 7,
  "cluster_spec": {"v100": 4, "k80": 2},
  "scale_factors": {"2": 1, "10": 2},
  "throughputs": {"10": {"k80": 1, "v100": 2.5e1, "a100": 7}, "2": {"k80": 3, "v100": 4},
                  "2,10": {"k80": [1, 2], "v100": [3, 4]}},
  "num_steps_remaining": {"2": 100, "10": 0},
  "SLOs": {"2": 50}
})";

// Returns the valid input with `from` replaced by `to`.
std::string Changed(std::string_view from, std::string_view to) {
  std::string text(kGavelInput);
  text.replace(text.find(from), from.size(), to);
  return text;
}

std::string GavelErrorOf(std::string_view text) {
  const Result<GavelInput> input = ReadGavelInput(text);
  return input ? "no error" : input.error().message;
}

TEST(ReadGavelInput, ReadsKnownMembers) {
  const Result<GavelInput> input = ReadGavelInput(kGavelInput);
  ASSERT_TRUE(input) << input.error().message;
  EXPECT_FALSE(input->calls);
  ASSERT_EQ(input->problems.size(), 1U);
  const GavelProblem& problem = input->problems[0];
  EXPECT_THAT(problem.types, ElementsAre("k80", "v100"));
  EXPECT_THAT(problem.gpus, ElementsAre(2, 4));
  ASSERT_EQ(problem.jobs.size(), 2U);
  EXPECT_EQ(problem.jobs[0].name, "2");  // sorted as numbers
  EXPECT_EQ(problem.jobs[1].gpus, 2);
  EXPECT_THAT(problem.jobs[1].throughput, ElementsAre(1, 25));
  EXPECT_EQ(problem.jobs[0].deadline, 50);
  EXPECT_FALSE(problem.jobs[1].deadline.has_value());
  EXPECT_EQ(problem.jobs[1].steps_left, 0);
  EXPECT_EQ(problem.jobs[1].weight, 1);
  ASSERT_EQ(problem.pairs.size(), 1U);
  EXPECT_EQ(problem.pairs[0].second, 1U);
  EXPECT_THAT(problem.pairs[0].throughput[1], ElementsAre(3, 4));
}

TEST(ReadGavelInput, ACallHasItsOwnFieldsBeforeThoseOfAll) {
  const Result<GavelInput> input = ReadGavelInput(Changed(
      R"("SLOs")", R"("calls": [{"active": ["2"]}, {"num_steps_remaining": {"2": 7, "10": 8},
           "times_since_start": {"2": 5, "10": 6}}], "SLOs")"));
  ASSERT_TRUE(input) << input.error().message;
  EXPECT_TRUE(input->calls);
  ASSERT_EQ(input->problems.size(), 2U);
  EXPECT_EQ(input->problems[0].jobs.size(), 1U);
  EXPECT_TRUE(input->problems[0].pairs.empty());
  EXPECT_EQ(input->problems[0].jobs[0].steps_left, 100);
  EXPECT_EQ(input->problems[1].jobs[1].steps_left, 8);
  EXPECT_EQ(input->problems[1].jobs[1].waited, 6);
}

TEST(ReadGavelInput, ReadsEntities) {
  const std::string entities = R"("entities": {"entity_weights": {"e": 2, "f": 1},
      "entity_policies": {"e": "fifo"}, "entity_to_jobs": {"e": ["10"], "f": ["2"]}})";
  const Result<GavelInput> input = ReadGavelInput(Changed(R"("entities": null)", entities));
  ASSERT_TRUE(input) << input.error().message;
  const auto& read = input->problems[0].entities;
  ASSERT_EQ(read.size(), 2U);
  EXPECT_TRUE(read[0].fifo);
  EXPECT_THAT(read[0].jobs, ElementsAre(1));
  EXPECT_EQ(read[0].weight, 2);
  EXPECT_FALSE(read[1].fifo);
  const std::string twice = R"("entities": {"entity_weights": {"e": 2},
      "entity_to_jobs": {"e": ["10", "10", "2"]}})";
  EXPECT_THAT(GavelErrorOf(Changed(R"("entities": null)", twice)),
              HasSubstr("entities.entity_to_jobs: job \"10\" is in 2 entities"));
}

TEST(ReadGavelInput, NamesTheFieldThatIsWrong) {
  EXPECT_THAT(GavelErrorOf(Changed("2.5e1", "-1")), HasSubstr("v100: -1 is negative"));
  EXPECT_THAT(GavelErrorOf(Changed("2.5e1", "-1")), HasSubstr("throughputs"));
  EXPECT_THAT(GavelErrorOf(Changed("2.5e1", "NaN")), HasSubstr("v100: \"NaN\" is not a number"));
  EXPECT_THAT(GavelErrorOf(Changed("2.5e1", "-Infinity")),
              HasSubstr("v100: \"-Infinity\" is not a number"));
  EXPECT_THAT(GavelErrorOf(Changed("2.5e1", "1e16")), HasSubstr("v100: 1e16 is out of range"));
  EXPECT_THAT(GavelErrorOf(Changed("2.5e1", "[1]")), HasSubstr("an array instead of a number"));
  EXPECT_THAT(GavelErrorOf(Changed(R"("v100": 2.5e1, )", "")), HasSubstr("v100: missing"));
  EXPECT_THAT(GavelErrorOf(Changed(R"("10": 2})", R"("10": 5})")),
              HasSubstr("5 GPUs, but no type has more than 4"));
  EXPECT_THAT(GavelErrorOf(Changed(R"("10": 2})", R"("10": 0})")),
              HasSubstr("0 instead of a number above 0"));
  EXPECT_THAT(GavelErrorOf(Changed(R"(, "10": 0})", "}")), HasSubstr("num_steps_remaining"));
  EXPECT_THAT(GavelErrorOf(Changed(R"("SLOs": {"2")", R"("SLOs": {"3")")),
              HasSubstr("of a job without throughputs"));
  EXPECT_THAT(GavelErrorOf(Changed(R"("2,10")", R"("2,11")")), HasSubstr("not a pair of two jobs"));
  EXPECT_THAT(GavelErrorOf(Changed("[3, 4]", "[3]")), HasSubstr("not a list of two throughputs"));
  EXPECT_THAT(GavelErrorOf(Changed(R"("SLOs")", R"("calls": [{"active": ["3"]}], "SLOs")")),
              HasSubstr("calls[0].active[0]: a job without throughputs"));
  EXPECT_THAT(GavelErrorOf(Changed(R"("v100": 4, "k80": 2)", R"("v100": 0, "k80": 0)")),
              HasSubstr("cluster_spec: no type has GPUs"));
  EXPECT_THAT(GavelErrorOf(Changed("cluster_spec", "cluster")), HasSubstr("cluster_spec: missing"));
  EXPECT_THAT(GavelErrorOf("[]"), HasSubstr("an array instead of an object"));
  EXPECT_THAT(GavelErrorOf("{"), HasSubstr("not JSON at byte"));
}

TEST(ReadGavelInput, LeavesWordsInTextAlone) {
  EXPECT_TRUE(ReadGavelInput(Changed("not ours", R"(NaN \" Infinity)")).has_value());
}

}  // namespace
}  // namespace synergy::cli
