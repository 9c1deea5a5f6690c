#include "allocation/preemption.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/allocation/allocation_fixture.h"

namespace synergy::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

using Operator = LabelSelector::Operator;

class PreemptionTest : public AllocationFixture {
 protected:
  PreemptionTest() { HaveNode("n1"); }

  // Adds a running pod with this many GPUs to n1.
  void Running(const std::string& name, int64_t gpus, int32_t priority = 0,
               const std::string& app = {}) {
    Pod pod = OnNode(WithPriority(MakeGpuPod(name, gpus), priority), "n1");
    if (!app.empty()) pod = Labelled(std::move(pod), "app", app);
    state.UpsertPod(pod);
    proposed_.push_back(name);
  }
  // Allows at most `allowed` disruptions of the app's pods.
  void Budget(const std::string& app, int64_t allowed, std::vector<std::string> disrupted = {}) {
    DisruptionBudget budget{.uid = "budget of " + app, .pod_namespace = "team", .name = app};
    budget.selector.requirements.push_back({"app", Operator::kIn, {app}});
    budget.disruptions_allowed = allowed;
    budget.disrupted_pods = std::move(disrupted);
    state.UpsertDisruptionBudget(budget);
  }

  // Returns the victims, among all pods of the node, for a pod with this many GPUs.
  std::vector<std::string> VictimsFor(int64_t gpus) {
    return VictimsFor(MakeGpuPod("important", gpus), proposed_);
  }
  std::vector<std::string> VictimsFor(const Pod& pod, const std::vector<std::string>& proposed) {
    const auto now = state.Snapshot();
    const auto victims = SelectVictims(*now, pod, PlaceOf(*now, "n1"), proposed);
    violations_ = victims ? victims->disruption_budget_violations : -1;
    std::vector<std::string> names;
    if (!victims) return {"none"};
    for (const auto& victim : victims->pods) names.push_back(victim->name);
    return names;
  }

  std::vector<std::string> proposed_;
  int64_t violations_ = 0;
};

TEST_F(PreemptionTest, NoMorePodsGoThanAreNeeded) {
  Running("a", 4);
  Running("b", 2);
  Running("c", 2);
  EXPECT_THAT(VictimsFor(2), ElementsAre("c")) << "a is reprieved first, b next";
}

TEST_F(PreemptionTest, ThePodsOfLowestPriorityGo) {
  Running("low", 4, 1);
  Running("middle", 2, 5);
  Running("high", 2, 9);
  EXPECT_THAT(VictimsFor(4), ElementsAre("low"));
  EXPECT_THAT(VictimsFor(5), ElementsAre("middle", "low"));
  EXPECT_THAT(VictimsFor(8), ElementsAre("high", "middle", "low"));
}

TEST_F(PreemptionTest, ASmallPodIsSparedWhereALargeOneOfLowerPriorityIsEnough) {
  Running("small but important", 1, 9);
  Running("large", 6, 5);
  Running("small", 1, 1);
  EXPECT_THAT(VictimsFor(6), ElementsAre("large"));
}

TEST_F(PreemptionTest, PodsUnderABudgetThatIsSpentAreReprievedFirst) {
  Running("protected", 4, 1, "web");
  Running("unprotected", 4, 9);
  Budget("web", 0);
  EXPECT_THAT(VictimsFor(4), ElementsAre("unprotected")) << "although its priority is higher";
  EXPECT_EQ(violations_, 0);
}

TEST_F(PreemptionTest, ViolationsAreCountedWhereThereIsNoOtherWay) {
  Running("a", 4, 1, "web");
  Running("b", 4, 1, "web");
  Budget("web", 1);
  EXPECT_THAT(VictimsFor(8), UnorderedElementsAre("a", "b"));
  EXPECT_EQ(violations_, 1);
}

TEST_F(PreemptionTest, ABudgetThatAllowsItIsNoObstacle) {
  Running("a", 4, 1, "web");
  Running("b", 4, 9);
  Budget("web", 1);
  EXPECT_THAT(VictimsFor(4), ElementsAre("a"));
  EXPECT_EQ(violations_, 0);
}

TEST_F(PreemptionTest, EvictionThatIsAlreadyCountedViolatesNothing) {
  Running("a", 8, 1, "web");
  Budget("web", 0, {"a"});
  EXPECT_THAT(VictimsFor(8), ElementsAre("a"));
  EXPECT_EQ(violations_, 0);
}

TEST_F(PreemptionTest, APodUnderTwoSpentBudgetsViolatesOnce) {
  Running("a", 8, 1, "web");
  Budget("web", 0);
  DisruptionBudget second{.uid = "second", .pod_namespace = "team"};
  second.selector.requirements.push_back({"app", Operator::kExists, {}});
  state.UpsertDisruptionBudget(second);
  EXPECT_THAT(VictimsFor(8), ElementsAre("a"));
  EXPECT_EQ(violations_, 1);
}

TEST_F(PreemptionTest, BudgetsOfOtherNamespacesDoNotCount) {
  Running("a", 8, 1, "web");
  DisruptionBudget elsewhere{.uid = "elsewhere", .pod_namespace = "another team"};
  elsewhere.selector.requirements.push_back({"app", Operator::kExists, {}});
  state.UpsertDisruptionBudget(elsewhere);
  EXPECT_THAT(VictimsFor(8), ElementsAre("a"));
  EXPECT_EQ(violations_, 0);
}

TEST_F(PreemptionTest, AnEmptySelectorAndAPodWithoutLabelsMeetNoBudgetAsInKubeScheduler) {
  Running("labelled", 4, 1, "web");
  Running("bare", 4, 1);
  state.UpsertDisruptionBudget({.uid = "empty selector", .pod_namespace = "team"});
  DisruptionBudget absence{.uid = "absence", .pod_namespace = "team"};
  absence.selector.requirements.push_back({"zone", Operator::kDoesNotExist, {}});
  absence.disruptions_allowed = 1;
  state.UpsertDisruptionBudget(absence);
  EXPECT_THAT(VictimsFor(8), UnorderedElementsAre("bare", "labelled"));
  EXPECT_EQ(violations_, 0);
}

TEST_F(PreemptionTest, AnythingButResourcesIsNotOursToJudgeSoAllProposedPodsAreKept) {
  Running("a", 1, 9);
  Running("b", 1, 1);
  EXPECT_THAT(VictimsFor(2), ElementsAre("a", "b"));
}

TEST_F(PreemptionTest, KeptPodsAreCountedAgainstTheirBudgetsAsWell) {
  Running("a", 1, 9, "web");
  Budget("web", 0);
  EXPECT_THAT(VictimsFor(2), ElementsAre("a"));
  EXPECT_EQ(violations_, 1);
}

TEST_F(PreemptionTest, OnlyProposedPodsGo) {
  Running("a", 4, 1);
  Running("b", 4, 5);
  EXPECT_THAT(VictimsFor(MakeGpuPod("important", 4), {"b"}), ElementsAre("b"));
}

TEST_F(PreemptionTest, ThereIsNoAnswerWhereAllProposedPodsAreNotEnough) {
  Running("a", 4);
  Running("b", 4);
  EXPECT_THAT(VictimsFor(MakeGpuPod("important", 5), {"b"}), ElementsAre("none"));
}

TEST_F(PreemptionTest, VictimsThatAreGoneAreLeftOut) {
  Running("a", 4);
  Running("b", 4);
  EXPECT_THAT(VictimsFor(MakeGpuPod("important", 4), {"gone", "a"}), ElementsAre("a"));
}

TEST_F(PreemptionTest, ThereIsNoAnswerWhereEveryVictimIsGone) {
  Running("a", 8);
  EXPECT_THAT(VictimsFor(MakeGpuPod("important", 4), {"gone"}), ElementsAre("none"));
  EXPECT_THAT(VictimsFor(MakeGpuPod("important", 4), {}), ElementsAre("none"));
}

TEST_F(PreemptionTest, ThereIsNoAnswerForANodeThatIsGone) {
  Running("a", 8);
  state.RemoveNode("n1");
  EXPECT_THAT(VictimsFor(4), ElementsAre("none"));
}

TEST_F(PreemptionTest, EvictionDoesNotHelpOnACordonedNode) {
  Running("a", 8);
  state.UpsertNode(Cordoned(MakeNode("n1", kServer)));
  EXPECT_THAT(VictimsFor(4), ElementsAre("none"));
}

TEST_F(PreemptionTest, ThePodsOwnEarlierPlaceDoesNotStandInItsWay) {
  Running("a", 4, 1);
  const Pod important = MakeGpuPod("important", 8);
  state.Expect(important, PlaceOf(*state.Snapshot(), "n1"), Instant{});
  EXPECT_THAT(VictimsFor(important, {"a"}), ElementsAre("a"));
}

TEST_F(PreemptionTest, TheAnswerDoesNotDependOnTheOrderOfArrival) {
  const std::vector<std::string> names = {"c", "a", "d", "b"};
  for (const std::string& name : names) Running(name, 2);
  EXPECT_THAT(VictimsFor(4), ElementsAre("c", "d"));
}

TEST(BudgetViolationsTest, AreMarkedPodByPodInOrder) {
  std::vector<std::shared_ptr<const Pod>> pods;
  for (const char* name : {"a", "b", "c"}) {
    pods.push_back(std::make_shared<const Pod>(Labelled(MakeGpuPod(name, 1), "app", "web")));
  }
  DisruptionBudget budget{.pod_namespace = "team", .disruptions_allowed = 2};
  budget.selector.requirements.push_back({"app", Operator::kIn, {"web"}});
  std::vector<bool> violating;
  EXPECT_EQ(CountBudgetViolations({budget}, pods, violating), 1);
  EXPECT_THAT(violating, ElementsAre(false, false, true));
  EXPECT_EQ(CountBudgetViolations({}, pods, violating), 0);
  EXPECT_EQ(CountBudgetViolations({budget}, {}, violating), 0);
  EXPECT_THAT(violating, IsEmpty());
}

}  // namespace
}  // namespace synergy::testing
