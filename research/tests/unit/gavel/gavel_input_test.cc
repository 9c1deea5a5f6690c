#include "research/gavel/gavel_input.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string GavelTraceError(const std::string& text) {
  const auto jobs = ParseGavelTrace(text, "t.trace");
  EXPECT_FALSE(jobs);
  return jobs ? "" : jobs.error().message;
}

std::string ThroughputsError(const std::string& text) {
  const auto throughputs = GavelThroughputs::Parse(text, "t.csv");
  EXPECT_FALSE(throughputs);
  return throughputs ? "" : throughputs.error().message;
}

TEST(GavelTraceTest, ALineIsAJob) {
  const auto jobs = ParseGavelTrace(
      "LM (batch size 5)\tpython3 m.py\tlm\t--steps\t1\t700\t2\t5\t-1.000000\t12.5\r\n"
      "\n"
      "A3C\t\t\t\t0\t9\t1\t1\t1.2\t30\n",
      "t.trace");
  ASSERT_TRUE(jobs) << jobs.error().message;
  ASSERT_EQ(jobs->size(), 2U);
  const GavelTraceJob& first = jobs->front();
  EXPECT_EQ(first.id, 0);
  EXPECT_EQ(first.model, "LM (batch size 5)");
  EXPECT_EQ(first.steps, 700);
  EXPECT_EQ(first.gpus, 2);
  EXPECT_EQ(first.weight, 5);
  EXPECT_FALSE(first.slo);
  EXPECT_EQ(first.submitted, Seconds(12.5));
  EXPECT_EQ(jobs->back().id, 1);
  EXPECT_EQ(jobs->back().slo, 1.2);
}

TEST(GavelTraceTest, TraceIsReadBackUnchanged) {
  const std::string text =
      "A3C\t\t\t\t0\t9\t1\t2.5\t1.2\t30.25\nCycleGAN\t\t\t\t0\t5\t4\t1\t-1\t31\n";
  const auto jobs = ParseGavelTrace(text, "t.trace");
  ASSERT_TRUE(jobs) << jobs.error().message;
  EXPECT_EQ(ToGavelTrace(*jobs), text);
}

TEST(GavelTraceTest, ErrorsNameLineAndField) {
  const std::string good = "A3C\t\t\t\t0\t9\t1\t1\t-1\t30\n";
  EXPECT_THAT(GavelTraceError(good + "A3C\t9\n"),
              HasSubstr("t.trace:2: 2 fields instead of 10, separated by tabs: model"));
  EXPECT_THAT(GavelTraceError("\t\t\t\t0\t9\t1\t1\t-1\t30"), HasSubstr("field 1 (model)"));
  EXPECT_THAT(GavelTraceError("A3C\t\t\t\t0\t9.5\t1\t1\t-1\t30"),
              HasSubstr("t.trace:1: field 6 (steps) is \"9.5\": write a whole number"));
  EXPECT_THAT(GavelTraceError("A3C\t\t\t\t0\t9\t0\t1\t-1\t30"),
              HasSubstr("field 7 (GPUs) is \"0\": write a number of at least 1"));
  EXPECT_THAT(GavelTraceError("A3C\t\t\t\t0\t9\t1\t0\t-1\t30"), HasSubstr("field 8 (weight)"));
  EXPECT_THAT(GavelTraceError("A3C\t\t\t\t0\t9\t1\t1\tnan\t30"), HasSubstr("field 9 (SLO)"));
  EXPECT_THAT(GavelTraceError("A3C\t\t\t\t0\t9\t1\t1\t-1\t-3"), HasSubstr("field 10 (arrival)"));
  EXPECT_THAT(GavelTraceError("A3C\t\t\t\t0\t9\t1\t1\t-1\t1e99"), HasSubstr("field 10 (arrival)"));
  EXPECT_THAT(GavelTraceError("\n\n"), HasSubstr("no jobs"));
}

TEST(GavelThroughputsTest, ThePublishedOnesAreOf26ModelsOnThreeTypes) {
  const GavelThroughputs throughputs = GavelThroughputs::Published();
  const auto types = throughputs.FastestFirst({"k80", "v100", "p100"});
  ASSERT_TRUE(types) << types.error().message;
  EXPECT_THAT(*types, ElementsAre("v100", "p100", "k80"));
  EXPECT_EQ(throughputs.Models(1, "v100").size(), 26U);
  EXPECT_EQ(throughputs.Models(8, "v100").size(), 19U);
  EXPECT_TRUE(throughputs.Models(3, "v100").empty());
  const auto rates = throughputs.Of("A3C", 1, {"v100", "k80"});
  ASSERT_TRUE(rates) << rates.error().message;
  EXPECT_THAT(*rates, ElementsAre(7.175767, 3.438768));
}

TEST(GavelThroughputsTest, ThePublishedPairsAreKnownInEitherOrder) {
  const GavelThroughputs throughputs = GavelThroughputs::Published();
  const auto there = throughputs.OfPair("A3C", "CycleGAN", {"v100", "k80"});
  ASSERT_TRUE(there);
  EXPECT_NEAR((*there)[0][0], 4.562, 1e-3);
  EXPECT_NEAR((*there)[0][1], 3.163, 1e-3);
  EXPECT_NEAR((*there)[1][1], 0.2929, 1e-3);
  const auto back = throughputs.OfPair("CycleGAN", "A3C", {"v100", "k80"});
  ASSERT_TRUE(back);
  EXPECT_EQ((*back)[0][0], (*there)[0][1]);
  EXPECT_FALSE(throughputs.OfPair("A3C", "new", {"v100"}));
}

TEST(GavelThroughputsTest, PairsThatMakeNoSenseAreRefused) {
  const auto refused = [](const char* text) {
    const auto pairs = GavelThroughputs::WithPairs(
        *GavelThroughputs::Parse("model,gpus,a\nm,1,1\n", "alone"), text, "pairs");
    return pairs ? "no error" : pairs.error().message;
  };
  EXPECT_THAT(refused("first,second,a_first\nm,m,1\n"), HasSubstr("a_second"));
  EXPECT_THAT(refused("first,second,a_first,a_second\nm,m,1,-1\n"), HasSubstr("pairs:2"));
  EXPECT_THAT(refused("first,second,a_first,a_second\nm,m,1,1\nm,m,2,2\n"),
              HasSubstr("an earlier line has this pair"));
}

TEST(GavelThroughputsTest, ErrorsListTheKnownValues) {
  const GavelThroughputs throughputs = GavelThroughputs::Published();
  EXPECT_THAT(throughputs.FastestFirst({"a100"}).error().message,
              HasSubstr("unknown GPU type a100; known types: k80, p100, v100"));
  EXPECT_THAT(throughputs.Of("A3C", 2, {"v100"}).error().message,
              HasSubstr("there are no throughputs of A3C on 2 GPUs"));
  EXPECT_THAT(ThroughputsError("gpus,a\n1,2\n"), HasSubstr("model"));
  EXPECT_THAT(ThroughputsError("model,gpus,a\nm,0,2\n"), HasSubstr("t.csv:2:3: gpus"));
  EXPECT_THAT(ThroughputsError("model,gpus,a\nm,1,-2\n"), HasSubstr("t.csv:2:5: a"));
  EXPECT_THAT(ThroughputsError("model,gpus,a\nm,1,2\nm,1,3\n"), HasSubstr("t.csv:3:1: model"));
}

}  // namespace
}  // namespace synergy::testing
