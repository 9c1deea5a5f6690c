#include "queues/types/gpu_type_planner.h"

#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gavel/policies/policies.h"
#include "unit/controller/rounds_fixture.h"

namespace synergy::controller {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class GpuTypePlannerTest : public RoundsFixture {
 protected:
  GpuTypePlannerTest() {
    ChangePolicy([](RoundPolicy& policy) {
      policy.settings.policy = "las";
      policy.settings.gpu_types = GpuTypes::kAware;
      policy.settings.least_run = Duration::zero();
    });
  }

  TypedWorkload& AddWaiting(const std::string& name, const std::string& alike) {
    auto object = std::make_shared<Workload>(MakeWorkload(name));
    object->pod_gpus = object->gpus;
    object->alike = alike;
    TypedWorkload workload;
    workload.described.name = object->Key();
    workload.described.may_lose_turn = true;
    workload.described.gpus = object->gpus;
    workload.described.created = object->created;
    workload.object = std::move(object);
    workloads.push_back(std::move(workload));
    return workloads.back();
  }
  TypedWorkload& AddRunning(const std::string& name, const std::string& alike,
                            const std::string& product) {
    TypedWorkload& workload = AddWaiting(name, alike);
    workload.described.state = RoundState::kRuns;
    workload.described.started = clock.WallNow();
    workload.on = product;
    workload.running = true;
    return workload;
  }
  Result<> Decide(bool begins = false) {
    const auto policy = objects.policies.Find("policy");
    return turns.Decide(*policy, *Rounds::Make(policy->settings), workloads, {}, begins,
                        {clock.Now(), clock.WallNow()});
  }
  // Returns "a V100" or "a nowhere" for each job, or "a" if there is no decision.
  std::vector<std::string> Turns() const {
    std::vector<std::string> texts;
    for (const TypedWorkload& workload : workloads) {
      const GpuTypeTurn* const turn = turns.Of(workload.object->uid);
      const std::string where =
          turn == nullptr ? "" : " " + (turn->product.empty() ? "nowhere" : turn->product);
      texts.push_back(workload.object->name + where);
    }
    return texts;
  }

  std::vector<TypedWorkload> workloads;
  GpuTypePlanner turns{speeds, MakeGavelPolicy};
};

TEST_F(GpuTypePlannerTest, AHigherClassGoesFirst) {
  HaveThreeTypes();
  AddWaiting("a", "steep").described.own_priority = 1;
  AddWaiting("b", "steep");
  ASSERT_TRUE(Decide());
  EXPECT_THAT(Turns(), ElementsAre("a V100", "b P100"));
  EXPECT_LT(turns.Of("a")->place, turns.Of("b")->place);
  turns.StartOver();
  workloads[1].described.own_priority = 2;
  ASSERT_TRUE(Decide());
  EXPECT_THAT(Turns(), ElementsAre("a P100", "b V100"));
  EXPECT_LT(turns.Of("b")->place, turns.Of("a")->place);
}

// The policy is asked again only after 6.4 rounds. So its first answer must not depend on where the
// jobs run when another replica begins to lead.
TEST_F(GpuTypePlannerTest, AfterAChangeOfLeaderTheNextRoundPutsEachJobWhereItIsWorthMost) {
  HaveThreeTypes();
  AddRunning("a", "flat", "V100");
  AddRunning("b", "flat", "P100");
  AddRunning("c", "steep", "K80");
  ASSERT_TRUE(Decide());
  EXPECT_THAT(Turns(), ElementsAre("a V100", "b P100", "c K80"));
  ASSERT_TRUE(Decide(true));
  EXPECT_THAT(Turns(), Contains("c V100"));
}

TEST_F(GpuTypePlannerTest, AChangedPolicyAppliesToTheJobsThatArePresent) {
  HaveThreeTypes();
  AddWaiting("a", "flat");
  AddWaiting("b", "steep");
  AddWaiting("c", "flat");
  ASSERT_TRUE(Decide(true));
  EXPECT_THAT(Turns(), Contains("b V100"));
  ChangePolicy([](RoundPolicy& policy) { policy.settings.policy = "fifo"; });
  ASSERT_TRUE(Decide(true));
  EXPECT_THAT(Turns(), Contains("a V100"));
}

TEST_F(GpuTypePlannerTest, NoClaimOfAJobStopsTheRoundsOfOthers) {
  HaveThreeTypes();
  for (const double rate : {5e-320, 1e-18, 1e18, 9e307}) {
    TypedWorkload& liar = AddRunning(fmt::format("{}", rate), fmt::format("{}", rate), "K80");
    liar.rate = rate;
  }
  AddWaiting("honest", "steep");
  for (int round = 0; round < 3; ++round) EXPECT_TRUE(Decide(true));
}

TEST_F(GpuTypePlannerTest, AChangedCostOfRestartsAppliesToTheJobsThatArePresent) {
  HaveThreeTypes();
  AddRunning("a", "steep", "K80");
  ASSERT_TRUE(Decide());
  ChangePolicy([](RoundPolicy& policy) { policy.settings.restart_cost = policy.settings.round; });
  ASSERT_TRUE(Decide(true));
  EXPECT_THAT(Turns(), ElementsAre("a K80"));
  ChangePolicy([](RoundPolicy& policy) { policy.settings.restart_cost = Duration::zero(); });
  ASSERT_TRUE(Decide(true));
  EXPECT_THAT(Turns(), ElementsAre("a V100"));
}

TEST_F(GpuTypePlannerTest, OneThatIsLeftAloneKeepsItsGpuAndNothingIsDecidedAboutIt) {
  HaveThreeTypes();
  AddRunning("a", "flat", "V100").described.left_alone = true;
  AddWaiting("b", "steep");
  ASSERT_TRUE(Decide());
  EXPECT_THAT(Turns(), ElementsAre("a", "b P100"));
}

TEST_F(GpuTypePlannerTest, DecisionsHoldUntilTheNextOnes) {
  HaveThreeTypes();
  AddWaiting("a", "steep");
  ASSERT_TRUE(Decide());
  EXPECT_THAT(Turns(), ElementsAre("a V100"));
  turns.Keep({"policy"});
  EXPECT_THAT(Turns(), ElementsAre("a"));
  ASSERT_TRUE(Decide());
  EXPECT_THAT(Turns(), ElementsAre("a V100"));
}

TEST_F(GpuTypePlannerTest, NoJobHasATurnIfNoProductIsKnown) {
  AddWaiting("a", "steep");
  const Result<> decided = Decide();
  ASSERT_FALSE(decided);
  EXPECT_THAT(decided.error().message, HasSubstr("has the label nvidia.com/gpu.product"));
  EXPECT_THAT(Turns(), ElementsAre("a"));
}

TEST_F(GpuTypePlannerTest, APolicyThatGoesByCostNeedsAPriceOfEachProduct) {
  HaveThreeTypes();
  AddWaiting("a", "steep");
  ASSERT_TRUE(Decide());
  ChangePolicy([](RoundPolicy& policy) {
    policy.settings.policy = "cost";
    policy.prices = {{"V100", 4}, {"P100", 1.5}};
  });
  const Result<> decided = Decide();
  ASSERT_FALSE(decided);
  EXPECT_EQ(decided.error().message, "prices: K80 has none, and policy cost uses costs");
  EXPECT_THAT(Turns(), ElementsAre("a")) << "what was decided before is taken back";
}

TEST_F(GpuTypePlannerTest, ProgressIsLearntAsARoundBegins) {
  HaveThreeTypes();
  AddRunning("a", "new", "K80").rate = 5;
  const auto estimated = ContainsRegex(R"(K80 [0-9.]+ \(estimate\))");
  ASSERT_TRUE(Decide());
  EXPECT_THAT(turns.Of("a")->speeds, estimated);
  ASSERT_TRUE(Decide(true));
  EXPECT_THAT(turns.Of("a")->speeds, AllOf(HasSubstr("K80 5"), Not(estimated)));
}

}  // namespace
}  // namespace synergy::controller
