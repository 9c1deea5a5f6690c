// Tests a list that replaces everything that the watch has reported before it.

#include <set>
#include <string>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/state/pod_list.h"
#include "support/recorded_changes.h"
#include "unit/cluster/cluster_fixture.h"

namespace synergy::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ReplaceTest : public ClusterStateFixture {
 protected:
  ReplaceTest() {
    HaveNode("n1");
    HaveNode("n2");
  }
};

TEST_F(ReplaceTest, NodesThatAreNotListedAreGone) {
  state.ReplaceNodes({MakeNode("n2", {Gpus(4), Cores(8), GiB(16)}), MakeNode("n3", kServer)});
  EXPECT_FALSE(Exists("n1"));
  EXPECT_TRUE(Exists("n2"));
  EXPECT_TRUE(Exists("n3"));
  EXPECT_EQ(NodeOf(*state.Snapshot(), "n2").allocatable.gpus, Gpus(4));
}

TEST_F(ReplaceTest, NodesThatAreNotListedKeepTheirPodsForTheirReturn) {
  state.UpsertPod(OnNode(MakeGpuPod("a", 2), "n1"));
  state.ReplaceNodes({MakeNode("n2", kServer)});
  EXPECT_FALSE(Exists("n1"));
  state.ReplaceNodes({MakeNode("n1", kServer), MakeNode("n2", kServer)});
  EXPECT_EQ(GpusTakenOn("n1"), Gpus(2));
}

TEST_F(ReplaceTest, AnEmptyListOfNodesRemovesThemAll) {
  state.ReplaceNodes({});
  EXPECT_FALSE(Exists("n1"));
  EXPECT_FALSE(Exists("n2"));
}

TEST_F(ReplaceTest, PodsThatAreNotListedAreGone) {
  state.UpsertPod(OnNode(MakeGpuPod("a", 2), "n1"));
  state.UpsertPod(MakeGpuPod("waiting", 1));
  state.ReplacePods({OnNode(MakeGpuPod("b", 3), "n1")});
  EXPECT_THAT(PodsOn("n1"), ElementsAre("b"));
  EXPECT_FALSE(HasPod("waiting"));
  EXPECT_EQ(state.known_pods(), 1U);
}

TEST_F(ReplaceTest, APodThatTheWatchHasNotReportedYetSurvivesAList) {
  // The assumed pod may be younger than the list.
  ASSERT_TRUE(Assume(MakeGpuPod("assumed", 1), "n1"));
  Expect(MakeGpuPod("expected", 1), "n1");
  state.ReplacePods({});
  EXPECT_THAT(PodsOn("n1"), ElementsAre("assumed", "expected"));
}

TEST_F(ReplaceTest, AnAssumedPodThatTheWatchHasReportedIsGoneWhenTheListLacksIt) {
  state.UpsertPod(MakeGpuPod("a", 1));
  ASSERT_TRUE(Assume(MakeGpuPod("a", 1), "n1"));
  state.ReplacePods({});
  EXPECT_FALSE(HasPod("a"));
  EXPECT_EQ(state.assumed_pods(), 0U);
  EXPECT_THAT(PodsOn("n1"), IsEmpty());
}

TEST_F(ReplaceTest, AnAssumedPodThatIsListedAsWaitingStaysAssumed) {
  ASSERT_TRUE(Assume(MakeGpuPod("a", 1), "n1"));
  state.ReplacePods({MakeGpuPod("a", 1)});
  EXPECT_EQ(PlacedOn("a"), "n1");
}

TEST_F(ReplaceTest, AListConfirmsABind) {
  ASSERT_TRUE(Assume(MakeGpuPod("a", 1), "n1"));
  state.ReplacePods({OnNode(MakeGpuPod("a", 1), "n1")});
  EXPECT_EQ(state.assumed_pods(), 0U);
  EXPECT_THAT(PodsOn("n1"), ElementsAre("a"));
}

TEST_F(ReplaceTest, AFinishedPodInAListTakesNothing) {
  state.ReplacePods({Finished(OnNode(MakeGpuPod("a", 1), "n1"))});
  EXPECT_EQ(state.known_pods(), 0U);
  EXPECT_THAT(PodsOn("n1"), IsEmpty());
}

TEST_F(ReplaceTest, AListIsTakenInPartsOfWholeNodes) {
  RecordedChanges journal;
  constexpr size_t kPodsOfANode = 3;
  constexpr size_t kNodes = PodList::kPodsAtATime;
  state.SetJournal(&journal);
  std::vector<Pod> pods;
  for (size_t pod = 0; pod < kPodsOfANode * kNodes; ++pod) {
    const std::string name = "pod" + std::to_string(pod);
    pods.push_back(OnNode(MakeGpuPod(name, 1), "node" + std::to_string(pod % kNodes)));
    pods.back().resource_version = 100 + pod;
  }
  state.ReplacePods(pods);

  std::set<std::string> nodes;
  size_t listed = 0;
  for (const ClusterChange& change : journal.all) {
    const auto* put = std::get_if<cluster_change::PutListedPods>(&change.call);
    if (put == nullptr) continue;
    const cluster_change::PutListedPods& part = *put;
    EXPECT_LT(part.pods.size(), PodList::kPodsAtATime + kPodsOfANode);
    std::set<std::string> its_nodes;
    for (const Pod& pod : part.pods) its_nodes.insert(pod.node);
    for (const std::string& node : its_nodes) EXPECT_TRUE(nodes.insert(node).second) << node;
    listed += part.pods.size();
    // observed_until advances only when the whole list is applied.
    EXPECT_EQ(part.observed_until, listed == pods.size() && part.pods.empty() ? 99 + listed : 0);
  }
  EXPECT_EQ(listed, pods.size());
  EXPECT_EQ(state.known_pods(), pods.size());
  EXPECT_EQ(state.Snapshot()->pods_observed_until(), 99 + listed);
}

TEST_F(ReplaceTest, AfterARestoreOfTheStoreVersionsBeginLower) {
  Pod pod = OnNode(MakeGpuPod("a", 1), "n1");
  pod.resource_version = 100;
  state.UpsertPod(pod);
  pod.resource_version = 7;
  state.ReplacePods({pod});
  EXPECT_EQ(state.Snapshot()->pods_observed_until(), 7U);
}

TEST_F(ReplaceTest, APodThatARestoreOfTheStoreHasUnboundWaitsAndCanBeBoundAgain) {
  const auto at = [](Pod pod, uint64_t version) {
    pod.resource_version = version;
    return pod;
  };
  state.UpsertPod(at(OnNode(MakeGpuPod("a", 1), "n1"), 100));
  const Pod restored = at(MakeGpuPod("a", 1), 7);
  state.ReplacePods({restored});
  EXPECT_EQ(GpusTakenOn("n1"), Gpus(0));
  EXPECT_TRUE(Assume(restored, "n2"));
  EXPECT_EQ(GpusTakenOn("n2"), Gpus(1));
}

TEST_F(ReplaceTest, AnAnswerThatIsNewerThanTheListKeepsThePodOnItsNode) {
  const auto at = [](Pod pod, uint64_t version) {
    pod.resource_version = version;
    return pod;
  };
  state.UpsertPod(at(MakeGpuPod("a", 1), 7));
  state.RefreshPod(at(OnNode(MakeGpuPod("a", 1), "n1"), 9));
  state.ReplacePods({at(MakeGpuPod("a", 1), 8)});
  EXPECT_EQ(GpusTakenOn("n1"), Gpus(1));
}

TEST_F(ReplaceTest, PodWatchedWhileTheListIsTakenSurvivesIt) {
  state.UpsertPod(OnNode(MakeGpuPod("gone", 1), "n1"));
  state.UpsertPod(OnNode(MakeGpuPod("refreshed", 1), "n1"));
  PodList list(state, {OnNode(MakeGpuPod("a", 1), "n1"), OnNode(MakeGpuPod("b", 1), "n2")}, 1);
  ASSERT_TRUE(list.Step());
  EXPECT_THAT(PodsOn("n1"), ElementsAre("a", "gone", "refreshed"));
  EXPECT_THAT(PodsOn("n2"), IsEmpty());
  state.RefreshPod(OnNode(MakeGpuPod("refreshed", 2), "n1"));
  while (list.Step()) {
  }
  EXPECT_THAT(PodsOn("n1"), ElementsAre("a", "refreshed"));
  EXPECT_THAT(PodsOn("n2"), ElementsAre("b"));
}

TEST_F(ReplaceTest, ANodeThatAPodMovesToIsTakenAfterTheOneThatItLeaves) {
  // "a" is expected on n2 and bound to n1. The new pod on n2 uses the room that "a" thereby leaves.
  Expect(MakeGpuPod("a", 4), "n2");
  PodList list(state, {OnNode(MakeGpuPod("a", 4), "n1"), OnNode(MakeGpuPod("b", 5), "n2")}, 1);
  ASSERT_TRUE(list.Step());
  EXPECT_THAT(PodsOn("n1"), IsEmpty());
  EXPECT_THAT(PodsOn("n2"), ElementsAre("a", "b"));
  while (list.Step()) {
  }
  EXPECT_THAT(PodsOn("n1"), ElementsAre("a"));
  EXPECT_THAT(PodsOn("n2"), ElementsAre("b"));
}

TEST_F(ReplaceTest, BudgetsAreKeptByUid) {
  const auto names = [this] {
    std::vector<std::string> all;
    for (const DisruptionBudget& budget : state.Snapshot()->disruption_budgets())
      all.push_back(budget.name);
    return all;
  };
  state.ReplaceDisruptionBudgets({{.uid = "1", .name = "a"}, {.uid = "2", .name = "b"}});
  EXPECT_THAT(names(), ElementsAre("a", "b"));
  state.UpsertDisruptionBudget({.uid = "1", .name = "a again"});
  state.UpsertDisruptionBudget({.uid = "3", .name = "c"});
  EXPECT_THAT(names(), ElementsAre("b", "a again", "c"));
  state.RemoveDisruptionBudget("2");
  state.RemoveDisruptionBudget("never heard of");
  EXPECT_THAT(names(), ElementsAre("a again", "c"));
  state.ReplaceDisruptionBudgets({});
  EXPECT_THAT(names(), IsEmpty());
}

}  // namespace
}  // namespace synergy::testing
