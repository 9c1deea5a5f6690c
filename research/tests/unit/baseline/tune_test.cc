#include "research/baseline/tune.h"

#include "research/tests/unit/baseline/baseline_fixture.h"

namespace synergy::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class PublishedTuneTest : public BaselineFixture {
 protected:
  Plan Run() { return PlanOf(*MakeTune(TuneVariant::kPublished)); }
};

TEST_F(PublishedTuneTest, ADemandThatFitsIsGivenWhole) {
  const JobIndex job = Have(Gpus(4), {{Cores(12), GB(240), 1}, {Cores(20), GB(300), 2}});
  EXPECT_THAT(Run().shares[job], ElementsAre(Share{0, {Gpus(4), Cores(20), GB(300)}}));
}

TEST_F(PublishedTuneTest, ANewcomerThatDoesNotFitCutsPeersOnlyToTheirFairShare) {
  const JobIndex peer = HaveRunning(0, {Gpus(4), Cores(20), GB(240)}, {{Cores(20), GB(240), 1}});
  const JobIndex newcomer = Have(Gpus(4), {{Cores(16), GB(240), 1}});
  const Plan plan = Run();
  EXPECT_THAT(plan.shares[peer], ElementsAre(Share{0, {Gpus(4), Cores(12), GB(240)}}));
  EXPECT_THAT(plan.shares[newcomer], ElementsAre(Share{0, {Gpus(4), Cores(12), GB(240)}}));
}

TEST_F(PublishedTuneTest, APeerBelowItsFairShareIsNotCut) {
  const JobIndex modest = HaveRunning(0, {Gpus(2), Cores(2), GB(40)}, {{Cores(2), GB(40), 1}});
  const JobIndex greedy = HaveRunning(0, {Gpus(2), Cores(18), GB(120)}, {{Cores(18), GB(120), 1}});
  const JobIndex newcomer = Have(Gpus(4), {{Cores(12), GB(240), 1}});
  const Plan plan = Run();
  EXPECT_THAT(plan.shares[modest], ElementsAre(Share{0, {Gpus(2), Cores(2), GB(40)}}));
  EXPECT_THAT(plan.shares[greedy], ElementsAre(Share{0, {Gpus(2), Cores(6), GB(120)}}));
  EXPECT_THAT(plan.shares[newcomer], ElementsAre(Share{0, {Gpus(4), Cores(12), GB(240)}}));
}

TEST_F(PublishedTuneTest, NoMorePeersAreCutThanTheNewcomerNeeds) {
  const JobIndex first = HaveRunning(0, {Gpus(2), Cores(12), GB(120)}, {{Cores(12), GB(120), 1}});
  const JobIndex second = HaveRunning(0, {Gpus(2), Cores(12), GB(120)}, {{Cores(12), GB(120), 1}});
  Have(Gpus(2), {{Cores(6), GB(120), 1}});
  const Plan plan = Run();
  EXPECT_EQ(plan.shares[first].front().amount.cpu, Cores(6));
  EXPECT_EQ(plan.shares[second].front().amount.cpu, Cores(12));
}

TEST_F(PublishedTuneTest, AJobThatWasCutTakesItsDemandAgainWhereThereIsRoom) {
  const JobIndex job = HaveRunning(0, {Gpus(4), Cores(12), GB(240)}, {{Cores(20), GB(240), 1}});
  EXPECT_THAT(Run().shares[job], ElementsAre(Share{0, {Gpus(4), Cores(20), GB(240)}}));
}

TEST_F(PublishedTuneTest, AJobGoesWhereTheLeastIsLeftThatHoldsItsDemand) {
  servers = {kRoundServer, kRoundServer};
  HaveRunning(1, {Gpus(4), Cores(12), GB(240)}, {{Cores(12), GB(240), 1}});
  const JobIndex large = Have(Gpus(2), {{Cores(18), GB(120), 1}});
  const JobIndex small = Have(Gpus(2), {{Cores(6), GB(120), 1}});
  const Plan plan = Run();
  EXPECT_EQ(plan.shares[large].front().server, 0U);
  EXPECT_EQ(plan.shares[small].front().server, 1U);
}

TEST_F(PublishedTuneTest, AJobThatNoServerHoldsGoesToTheFewestInProportion) {
  servers = {kRoundServer, kRoundServer, kRoundServer};
  HaveRunning(0, {Gpus(4), Cores(12), GB(240)}, {{Cores(12), GB(240), 1}});
  const JobIndex job = Have(Gpus(16), {{Cores(40), GB(800), 1}});
  EXPECT_THAT(Run().shares[job], ElementsAre(Share{1, {Gpus(8), Cores(20), GB(400)}},
                                             Share{2, {Gpus(8), Cores(20), GB(400)}}));
}

TEST_F(PublishedTuneTest, AJobForWhichNoGpusAreLeftWaits) {
  Have(Gpus(8), {{Cores(8), GB(80), 1}});
  const JobIndex late = Have(Gpus(1), {{Cores(1), GB(20), 1}});
  const Plan plan = Run();
  EXPECT_THAT(plan.shares[late], IsEmpty());
  EXPECT_EQ(plan.reasons[late], Unplaced::kNoGpus);
}

class OurTuneTest : public BaselineFixture {
 protected:
  Plan Run() { return PlanOf(*MakeTune(TuneVariant::kOurs)); }
};

TEST_F(OurTuneTest, SpreadsTheJobsThatGainMostBeforeFillingGaps) {
  servers.assign(2, Server{{Gpus(2), Cores(6), GB(120)}});
  for (int i = 0; i < 2; ++i) Have(Gpus(1), {{Cores(1), GB(20), 1}});
  const JobIndex one = Have(Gpus(1), {{Cores(3), GB(60), 1}, {Cores(5), GB(60), 2}});
  const JobIndex other = Have(Gpus(1), {{Cores(3), GB(60), 1}, {Cores(5), GB(60), 2}});
  const Plan plan = Run();
  EXPECT_THAT(plan.shares[one], ElementsAre(Share{0, {Gpus(1), Cores(5), GB(60)}}));
  EXPECT_THAT(plan.shares[other], ElementsAre(Share{1, {Gpus(1), Cores(5), GB(60)}}));
}

TEST_F(OurTuneTest, CpuGoesToTheJobThatGainsMore) {
  const JobIndex some = HaveRunning(0, {Gpus(4), Cores(12), GB(240)},
                                    {{Cores(12), GB(240), 1}, {Cores(20), GB(240), 1.5}});
  const JobIndex much = HaveRunning(0, {Gpus(2), Cores(6), GB(120)},
                                    {{Cores(6), GB(120), 1}, {Cores(10), GB(120), 3}});
  const JobIndex none = HaveRunning(0, {Gpus(2), Cores(6), GB(120)}, {{Cores(2), GB(40), 1}});
  EXPECT_THAT(SpeedsIn(Run()), ElementsAre(1, 3, 1));
  const Plan plan = Run();
  EXPECT_EQ(plan.shares[some].front().amount.cpu, Cores(12));
  EXPECT_EQ(plan.shares[much].front().amount.cpu, Cores(10));
  EXPECT_EQ(plan.shares[none].front().amount.cpu, Cores(2));
}

}  // namespace
}  // namespace synergy::testing
