#include "research/rounds/type_profiles.h"

#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/workload.h"

namespace synergy::testing {
namespace {

using ::testing::HasSubstr;

// Returns a profile that is fastest with 9 cores, and slower with less CPU or memory.
JobProfile Sensitive() {
  return *JobProfile::Create(Gpus(1), {{Cores(3), GB(20), 0.5},
                                       {Cores(3), GB(60), 1},
                                       {Cores(9), GB(20), 0.5},
                                       {Cores(9), GB(60), 3}});
}

JobProfile Flat(double throughput) {
  return *JobProfile::Create(Gpus(1), {{Cores(1), GB(20), throughput}});
}

TypeProfiles OfTwoTypes() {
  const std::string text = "model,gpus,fast,slow\nnet,1,4,1\nnet,2,8,0\nother,1,3,6\n";
  return {{"fast", "slow"}, GavelThroughputs::Parse(text, "rates").value()};
}

TEST(OnOtherGpu, ASlowOneBoundsWhatItBoundsAlone) {
  const JobProfile slow = OnOtherGpu(Sensitive(), 0.25);
  EXPECT_DOUBLE_EQ(slow.ThroughputAt(Cores(9), GB(60)), 0.75);
  EXPECT_DOUBLE_EQ(slow.ThroughputAt(Cores(3), GB(60)), 0.75);
  EXPECT_DOUBLE_EQ(slow.ThroughputAt(Cores(3), GB(20)), 0.5);
  EXPECT_EQ(slow.Demand(0).cpu, Cores(3));
}

TEST(OnOtherGpu, AFastOneMakesOnlyTheBestFaster) {
  const JobProfile fast = OnOtherGpu(Sensitive(), 2);
  EXPECT_DOUBLE_EQ(fast.Best(), 6);
  EXPECT_DOUBLE_EQ(fast.ThroughputAt(Cores(3), GB(60)), 1);
}

TEST(OnOtherGpu, ProcessMemoryStays) {
  const JobProfile known = Sensitive().WithProcessMemory(GB(8));
  EXPECT_EQ(OnOtherGpu(known, 0.5).process_memory(), GB(8));
}

TEST(TypeProfiles, UnmeasuredTypesFollowTheThroughputs) {
  const auto profiles = OfTwoTypes().Of("net", Gpus(1), Sensitive()).value();
  EXPECT_DOUBLE_EQ(profiles[0]->Best(), 3);
  EXPECT_DOUBLE_EQ(profiles[1]->Best(), 0.75);
}

TEST(TypeProfiles, EqualGpusGoFirstAndZeroMeansThatItCannotRun) {
  const auto two = OfTwoTypes().Of("net", Gpus(2), Sensitive()).value();
  EXPECT_EQ(two[0]->gpus(), Gpus(2));
  EXPECT_EQ(two[1], std::nullopt);
  // There are no data for four GPUs, so the ratio is that of one.
  const auto four = OfTwoTypes().Of("net", Gpus(4), Sensitive()).value();
  EXPECT_DOUBLE_EQ(four[1]->Best() / four[0]->Best(), 0.25);
}

TEST(TypeProfiles, MeasurementOnATypeGoesFirst) {
  TypeProfiles profiles = OfTwoTypes();
  EXPECT_EQ(profiles.Measured("net"), nullptr);
  profiles.Add("net", "elsewhere", Flat(70));
  EXPECT_EQ(profiles.Measured("net"), nullptr);
  profiles.Add("net", "slow", Flat(7));
  ASSERT_NE(profiles.Measured("net"), nullptr);
  const auto from_slow = profiles.Of("net", Gpus(1), *profiles.Measured("net")).value();
  EXPECT_DOUBLE_EQ(from_slow[1]->Best(), 7);
  EXPECT_DOUBLE_EQ(from_slow[0]->Best(), 28);
  profiles.Add("net", "", Flat(11));  // of the fastest type
  EXPECT_DOUBLE_EQ(profiles.Measured("net")->Best(), 11);
  EXPECT_DOUBLE_EQ(profiles.Of("net", Gpus(1), Flat(11)).value()[1]->Best(), 7);
}

TEST(TypeProfiles, AModelOfWhichNothingIsKnownIsNamedWithTheOptions) {
  TypeProfiles profiles = OfTwoTypes();
  EXPECT_THAT(profiles.Of("new", Gpus(1), Flat(1)).error().message,
              AllOf(HasSubstr("new"), HasSubstr("--throughputs"), HasSubstr("--type-profiles")));
  // A model that was measured on all types needs no throughputs.
  profiles.Add("new", "fast", Flat(5));
  profiles.Add("new", "slow", Flat(2));
  EXPECT_DOUBLE_EQ(profiles.Of("new", Gpus(1), Flat(5)).value()[1]->Best(), 2);
}

TEST(TypeProfiles, EveryModelOfMadeWorkloadsHasAStandIn) {
  const GavelThroughputs published = GavelThroughputs::Published();
  ModelSequence models({40, 30, 30});
  for (int at = 0; at < 50; ++at) {
    const std::string stand_in(StandInFor(models.Next()));
    EXPECT_TRUE(published.Has(stand_in, 1)) << stand_in;
  }
  EXPECT_EQ(StandInFor("new"), "");
}

}  // namespace
}  // namespace synergy::testing
