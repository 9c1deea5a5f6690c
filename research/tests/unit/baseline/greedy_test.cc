#include "research/baseline/greedy.h"

#include "research/tests/unit/baseline/baseline_fixture.h"

namespace synergy::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class GreedyTest : public BaselineFixture {
 protected:
  Plan Run(GreedyOrder order = GreedyOrder::kPolicy) { return PlanOf(*MakeGreedy(order)); }
};

TEST_F(GreedyTest, AJobHasItsWholeDemandOrWaitsWhileGpusStayIdle) {
  const JobIndex first = Have(Gpus(1), {{Cores(20), GB(60), 1}});
  const JobIndex second = Have(Gpus(1), {{Cores(20), GB(60), 1}});
  const JobIndex small = Have(Gpus(1), {{Cores(4), GB(60), 1}});
  const Plan plan = Run();
  EXPECT_THAT(plan.shares[first], ElementsAre(Share{0, {Gpus(1), Cores(20), GB(60)}}));
  EXPECT_THAT(plan.shares[second], IsEmpty());
  EXPECT_EQ(plan.reasons[second], Unplaced::kNoRoom);
  EXPECT_THAT(plan.shares[small], ElementsAre(Share{0, {Gpus(1), Cores(4), GB(60)}}));
}

TEST_F(GreedyTest, ADemandThatNoServerHasIsCutToTheLargestServers) {
  const JobIndex job = Have(Gpus(1), {{Cores(100), GB(60), 1}});
  EXPECT_THAT(Run().shares[job], ElementsAre(Share{0, {Gpus(1), Cores(24), GB(60)}}));
}

TEST_F(GreedyTest, DrfServesTheLeastDominantShareFirst) {
  const JobIndex large = Have(Gpus(1), {{Cores(20), GB(60), 1}});
  const JobIndex small = Have(Gpus(1), {{Cores(8), GB(60), 1}});
  const Plan drf = Run(GreedyOrder::kDrf);
  EXPECT_THAT(drf.shares[large], IsEmpty());
  EXPECT_EQ(drf.shares[small].size(), 1U);
  const Plan policy = Run();
  EXPECT_EQ(policy.shares[large].size(), 1U);
  EXPECT_THAT(policy.shares[small], IsEmpty());
}

TEST_F(GreedyTest, DrfGoesByWhicheverDimensionIsLargest) {
  // Half of the memory is more than a third of the CPU.
  const JobIndex of_memory = Have(Gpus(1), {{Cores(1), GB(300), 1}});
  const JobIndex of_cpu = Have(Gpus(1), {{Cores(8), GB(200), 1}});
  const Plan plan = Run(GreedyOrder::kDrf);
  EXPECT_THAT(plan.shares[of_memory], IsEmpty());
  EXPECT_EQ(plan.shares[of_cpu].size(), 1U);
}

TEST_F(GreedyTest, TetrisTakesTheServerMostLikeTheDemand) {
  servers = {Server{{Gpus(8), Cores(24), GB(100)}}, Server{{Gpus(8), Cores(26), GB(480)}}};
  const JobIndex job = Have(Gpus(1), {{Cores(1), GB(80), 1}});
  EXPECT_EQ(Run(GreedyOrder::kTetris).shares[job].front().server, 1U);
  EXPECT_EQ(Run().shares[job].front().server, 0U);
}

TEST_F(GreedyTest, AJobLargerThanAServerHasAShareOfEachOfSeveral) {
  servers = {kRoundServer, kRoundServer};
  const JobIndex job = Have(Gpus(16), {{Cores(40), GB(800), 1}});
  EXPECT_THAT(Run().shares[job], ElementsAre(Share{0, {Gpus(8), Cores(20), GB(400)}},
                                             Share{1, {Gpus(8), Cores(20), GB(400)}}));
}

TEST_F(GreedyTest, AJobLargerThanAServerThatHasOnlyPartOfItsDemandHoldsNothing) {
  servers = {kRoundServer, Server{{Gpus(8), Cores(10), GB(480)}}};
  const JobIndex job = Have(Gpus(16), {{Cores(40), GB(800), 1}});
  const JobIndex after = Have(Gpus(8), {{Cores(24), GB(480), 1}});
  const Plan plan = Run();
  EXPECT_THAT(plan.shares[job], IsEmpty());
  EXPECT_EQ(plan.reasons[job], Unplaced::kNoRoom);
  EXPECT_THAT(plan.shares[after], ElementsAre(Share{0, kRoundServer.capacity}));
}

}  // namespace
}  // namespace synergy::testing
