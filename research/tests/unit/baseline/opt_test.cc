#include "research/baseline/opt.h"

#include <chrono>

#include "research/tests/unit/baseline/baseline_fixture.h"

namespace synergy::testing {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::Optional;

// The search is limited by nodes alone, because the result of a search within a second depends on
// the machine's load.
constexpr OptOptions kWithoutClock{.time = std::chrono::hours(1)};

class OptAllocatorTest : public BaselineFixture {
 protected:
  Plan Run() { return PlanOf(*MakeOpt(kWithoutClock)); }
};

TEST_F(OptAllocatorTest, UnneededAmountsGoToJobsThatGainFromThem) {
  Have(Gpus(4), {{Cores(12), GB(240), 1}, {Cores(20), GB(240), 2}});
  Have(Gpus(4), {{Cores(4), GB(80), 1}});
  const Plan plan = Run();
  EXPECT_THAT(SpeedsIn(plan), ElementsAre(2, 1));
  EXPECT_EQ(plan.shares[0].front().amount.cpu, Cores(20));
  EXPECT_THAT(plan.gap, Optional(DoubleNear(0, 1e-4)));
}

TEST_F(OptAllocatorTest, NoJobFallsBelowItsFairShareForAHigherTotal) {
  Have(Gpus(4), {{Cores(12), GB(240), 1}, {Cores(20), GB(240), 9}});
  Have(Gpus(4), {{Cores(4), GB(240), 0.5}, {Cores(12), GB(240), 1}});
  EXPECT_THAT(SpeedsIn(Run()), ElementsAre(1, 1));
}

TEST_F(OptAllocatorTest, GapIncludesTheCostOfPlaces) {
  // On one machine both would have their 20 cores; on the server that they keep neither has more
  // than 12.
  servers = {kRoundServer, kRoundServer};
  for (int i = 0; i < 2; ++i) {
    HaveRunning(0, {Gpus(4), Cores(12), GB(240)},
                {{Cores(12), GB(240), 1}, {Cores(20), GB(240), 2}});
  }
  const Plan plan = Run();
  EXPECT_THAT(SpeedsIn(plan), ElementsAre(1, 1));
  EXPECT_THAT(plan.gap, Optional(DoubleNear(0.5, 1e-3)));
}

TEST_F(OptAllocatorTest, OneMachineHasTheServersTogether) {
  servers = {kRoundServer, kRoundServer};
  for (int i = 0; i < 2; ++i) Have(Gpus(4), {{Cores(12), GB(240), 1}, {Cores(20), GB(240), 2}});
  const auto machine = ChooseOnOneMachine(servers, jobs, Turns(), kWithoutClock);
  ASSERT_TRUE(machine);
  EXPECT_THAT(machine->chosen, ElementsAre(DivisionChoice{Cores(20), GB(240), 8},
                                           DivisionChoice{Cores(20), GB(240), 8}));
  EXPECT_DOUBLE_EQ(machine->value, 16);
  EXPECT_NEAR(machine->bound, 16, 16 * 1e-4);
}

}  // namespace
}  // namespace synergy::testing
