#include "research/baseline/proportional.h"

#include "research/tests/unit/baseline/baseline_fixture.h"

namespace synergy::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ProportionalTest : public BaselineFixture {
 protected:
  Plan Run(Placing placing = Placing::kPacked) { return PlanOf(*MakeProportional(placing)); }
};

TEST_F(ProportionalTest, GivesEachJobItsFairShareWhateverItsDemand) {
  Have(Gpus(2), {{Cores(1), GB(20), 1}});
  Have(Gpus(4), {{Cores(24), GB(480), 1}});
  EXPECT_THAT(Run().shares, ElementsAre(ElementsAre(Share{0, {Gpus(2), Cores(6), GB(120)}}),
                                        ElementsAre(Share{0, {Gpus(4), Cores(12), GB(240)}})));
}

TEST_F(ProportionalTest, PackedFillsTheFullestServerAndSpreadTheEmptiest) {
  servers = {kRoundServer, kRoundServer};
  HaveRunning(1, {Gpus(4), Cores(12), GB(240)}, {{Cores(12), GB(240), 1}});
  const JobIndex job = Have(Gpus(4), {{Cores(12), GB(240), 1}});
  EXPECT_EQ(Run(Placing::kPacked).shares[job].front().server, 1U);
  EXPECT_EQ(Run(Placing::kSpread).shares[job].front().server, 0U);
}

TEST_F(ProportionalTest, AJobThatFitsOnNoServerGoesToTheFewest) {
  servers = {kRoundServer, kRoundServer, kRoundServer};
  HaveRunning(0, {Gpus(2), Cores(6), GB(120)}, {{Cores(6), GB(120), 1}});
  const JobIndex job = Have(Gpus(12), {{Cores(12), GB(240), 1}});
  EXPECT_THAT(Run().shares[job], ElementsAre(Share{1, kRoundServer.capacity},
                                             Share{0, {Gpus(4), Cores(12), GB(240)}}));
}

TEST_F(ProportionalTest, RunningJobKeepsItsServerUnlessThatIsGone) {
  servers = {kRoundServer, kRoundServer};
  const JobIndex stays = HaveRunning(1, {Gpus(2), Cores(1), GB(20)}, {{Cores(6), GB(120), 1}});
  const JobIndex moves = HaveRunning(7, {Gpus(2), Cores(6), GB(120)}, {{Cores(6), GB(120), 1}});
  const Plan plan = Run(Placing::kSpread);
  EXPECT_THAT(plan.shares[stays], ElementsAre(Share{1, {Gpus(2), Cores(6), GB(120)}}));
  EXPECT_EQ(plan.shares[moves].front().server, 0U);
}

TEST_F(ProportionalTest, AJobForWhichNoGpusAreLeftWaitsAndASmallerOneGoesAhead) {
  Have(Gpus(6), {{Cores(6), GB(120), 1}});
  const JobIndex large = Have(Gpus(4), {{Cores(6), GB(120), 1}});
  const JobIndex small = Have(Gpus(2), {{Cores(6), GB(120), 1}});
  const Plan plan = Run();
  EXPECT_THAT(plan.shares[large], IsEmpty());
  EXPECT_EQ(plan.reasons[large], Unplaced::kNoGpus);
  EXPECT_EQ(plan.shares[small].size(), 1U);
}

}  // namespace
}  // namespace synergy::testing
