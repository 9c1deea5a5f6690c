#include "cluster/gang.h"

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cluster/state/cluster_state.h"
#include "support/cluster_vocabulary.h"

namespace synergy {
namespace {

using synergy::testing::MakeGpuPod;
using synergy::testing::MakeNode;
using synergy::testing::NodeOf;
using synergy::testing::OnNode;

using Words = std::map<std::string, std::string, std::less<>>;

std::shared_ptr<const Gang> Recognise(const Words& labels, const Words& annotations = {}) {
  const auto text_of = [](const Words& words) {
    return [&words](std::string_view key) {
      const auto found = words.find(key);
      return found == words.end() ? std::string_view() : std::string_view(found->second);
    };
  };
  return RecogniseGang("team", text_of(labels), text_of(annotations));
}

Gang Sound(std::string name, int32_t size) { return {std::move(name), size, {}}; }

TEST(GangTest, APodWithoutASizeTrainsAlone) {
  EXPECT_EQ(Recognise({}), nullptr);
  EXPECT_EQ(Recognise({{"batch.kubernetes.io/job-name", "sweep"},
                       {"batch.kubernetes.io/job-completion-index", "3"}}),
            nullptr);
  EXPECT_EQ(Recognise({{"jobset.sigs.k8s.io/jobset-name", "a"}}), nullptr);
  EXPECT_EQ(Recognise({{"scheduling.x-k8s.io/pod-group", "a"}}), nullptr);
}

TEST(GangTest, TheSizeIsOurLabelOrKueuesAnnotation) {
  EXPECT_EQ(*Recognise({{"synergy.io/gang", "bert"}, {"synergy.io/gang-size", "8"}}),
            Sound("team/bert", 8));
  EXPECT_EQ(*Recognise({{"kueue.x-k8s.io/pod-group-name", "g"}},
                       {{"kueue.x-k8s.io/pod-group-total-count", "2"}}),
            Sound("team/kueue/g", 2));
}

TEST(GangTest, SpreadCostIsTheProfilesThenTheLabels) {
  const Words labels = {{"synergy.io/gang", "bert"},
                        {"synergy.io/gang-size", "8"},
                        {"synergy.io/tensor-skew", "0.74"}};
  EXPECT_EQ(Recognise(labels)->spread, SpreadCost{.tensor_skew = 0.74});
  EXPECT_EQ(Recognise(labels, {{"synergy.io/spread-cost", "nodes=0.7,racks=0.5"}})->spread,
            (SpreadCost{.nodes = 0.7, .racks = 0.5}));
  EXPECT_EQ(Recognise({{"synergy.io/gang", "bert"},
                       {"synergy.io/gang-size", "8"},
                       {"synergy.io/tensor-skew", "much"}})
                ->spread,
            SpreadCost{});
}

TEST(GangTest, GangWithinPrecedesTheSpreadCost) {
  const auto spread = [](const std::string& within) {
    return Recognise({{"synergy.io/gang", "bert"},
                      {"synergy.io/gang-size", "8"},
                      {"synergy.io/tensor-skew", "0"},
                      {"synergy.io/gang-within", within}},
                     {{"synergy.io/spread-cost", "nodes=0.98,racks=0.98"}})
        ->spread;
  };
  EXPECT_EQ(spread("node"), (SpreadCost{.nodes = 0.1, .racks = 0.01}));
  EXPECT_EQ(spread("rack"), (SpreadCost{.nodes = 1, .racks = 0.01}));
  for (const char* other : {"", "Node", "block"})
    EXPECT_EQ(spread(other), (SpreadCost{.nodes = 0.98, .racks = 0.98})) << other;
}

TEST(GangTest, TheNameIsWhatTheControllerOfThePodsCallsThem) {
  const auto name = [](const std::string& label, const std::string& value) {
    return Recognise({{label, value}, {"synergy.io/gang-size", "2"}})->name;
  };
  EXPECT_EQ(name("scheduling.x-k8s.io/pod-group", "a"), "team/podgroup/a");
  EXPECT_EQ(name("training.kubeflow.org/job-name", "b"), "team/training/b");
  EXPECT_EQ(name("batch.kubernetes.io/job-name", "c"), "team/job/c");
  EXPECT_EQ(Recognise({{"jobset.sigs.k8s.io/jobset-name", "set"},
                       {"jobset.sigs.k8s.io/replicatedjob-name", "workers"},
                       {"batch.kubernetes.io/job-name", "set-workers-0"},
                       {"synergy.io/gang-size", "2"}})
                ->name,
            "team/jobset/set/workers");
}

// As a gang they would wait for each other for ever.
TEST(GangTest, PodsThatAreCreatedOneAfterTheOtherAreNone) {
  const Words exclusive = {{"alpha.jobset.sigs.k8s.io/exclusive-topology", "rack"}};
  const Words of_set = {{"jobset.sigs.k8s.io/jobset-name", "set"}, {"synergy.io/gang-size", "8"}};
  EXPECT_NE(Recognise(of_set), nullptr);
  EXPECT_EQ(Recognise(of_set, exclusive), nullptr);
  Words by_selector = exclusive;
  by_selector["alpha.jobset.sigs.k8s.io/node-selector"] = "true";
  EXPECT_NE(Recognise(of_set, by_selector), nullptr) << "all are created at once";

  const Words of_group = {{"leaderworkerset.sigs.k8s.io/name", "llm"},
                          {"leaderworkerset.sigs.k8s.io/group-index", "0"},
                          {"synergy.io/gang-size", "3"}};
  EXPECT_NE(Recognise(of_group), nullptr);
  EXPECT_EQ(Recognise(of_group, {{"leaderworkerset.sigs.k8s.io/exclusive-topology", "rack"}}),
            nullptr);

  Words group = {{"kueue.x-k8s.io/pod-group-name", "g"}};
  const Words fast = {{"kueue.x-k8s.io/pod-group-total-count", "3"},
                      {"kueue.x-k8s.io/pod-group-fast-admission", "true"}};
  EXPECT_EQ(Recognise(group, fast), nullptr);
  group["synergy.io/gang-size"] = "3";
  EXPECT_EQ(Recognise(group, fast)->size, 3) << "its author says so";
}

TEST(GangTest, JobsOfTwoKindsMayHaveOneName) {
  const auto name = [](Words labels) {
    labels["synergy.io/gang-size"] = "2";
    return Recognise(labels)->name;
  };
  const Words job = {{"batch.kubernetes.io/job-name", "bert"}};
  const Words torch = {{"training.kubeflow.org/job-name", "bert"},
                       {"training.kubeflow.org/operator-name", "pytorchjob-controller"}};
  EXPECT_EQ(name(job), "team/job/bert");
  EXPECT_EQ(name(torch), "team/pytorchjob/bert");
  Words labelled = torch;
  labelled["synergy.io/gang"] = "bert";
  EXPECT_EQ(name(labelled), "team/bert") << "its author may name pods of several owners";
}

TEST(GangTest, AGangOfOneIsNone) {
  EXPECT_EQ(Recognise({{"synergy.io/gang", "a"}, {"synergy.io/gang-size", "1"}}), nullptr);
}

TEST(GangTest, WordsWithoutSenseAreAProblemThatNamesTheCure) {
  const auto problem = [](const Words& labels, const Words& annotations = {}) {
    const auto gang = Recognise(labels, annotations);
    return gang == nullptr ? "no gang" : gang->problem;
  };
  for (const char* size : {"0", "-1", "eight", "8 ", "257", "99999999999999999999", "2.5"}) {
    EXPECT_NE(problem({{"synergy.io/gang", "a"}, {"synergy.io/gang-size", size}})
                  .find("must be a number from 1 to 256"),
              std::string::npos)
        << size;
  }
  EXPECT_EQ(problem({{"synergy.io/gang", "a"}}),
            "the label synergy.io/gang needs the label synergy.io/gang-size");
  EXPECT_EQ(problem({{"synergy.io/gang-size", "8"}}),
            "the label synergy.io/gang-size needs the label synergy.io/gang with the gang's name");
  EXPECT_EQ(problem({{"kueue.x-k8s.io/pod-group-name", "g"}},
                    {{"kueue.x-k8s.io/pod-group-total-count", std::string(300, '9')}}),
            "kueue.x-k8s.io/pod-group-total-count is \"" + std::string(40, '9') +
                "...\", but must be a number from 1 to 256");
}

// Tests places that are held for members.
class GangReservationTest : public ::testing::Test {
 protected:
  GangReservationTest() {
    state.UpsertNode(MakeNode("a", {Gpus(2), Cores(8), GiB(8)}));
    state.UpsertNode(MakeNode("b", {Gpus(2), Cores(8), GiB(8)}));
    state.UpsertPod(Member("p"));
    state.UpsertPod(Member("q"));
  }
  static Pod Member(const std::string& name) {
    Pod pod = MakeGpuPod(name, 2);
    pod.gang = std::make_shared<const Gang>(Gang{"team/g", 2, {}});
    return pod;
  }
  Gpus FreeOn(const std::string& node) const { return NodeOf(*state.Snapshot(), node).Free().gpus; }

  ClusterState state;
  const Instant later = Instant(std::chrono::hours(1));
};

TEST_F(GangReservationTest, AllOrNoneAreHeld) {
  EXPECT_FALSE(state.Reserve({{"p", "a"}, {"q", "a"}}, later));
  EXPECT_EQ(FreeOn("a"), Gpus(2));
  EXPECT_FALSE(state.Reserve({{"p", "a"}, {"unheard of", "b"}}, later));
  EXPECT_EQ(FreeOn("a"), Gpus(2));
  EXPECT_TRUE(state.Reserve({{"p", "a"}, {"q", "b"}}, later));
  EXPECT_EQ(FreeOn("a"), Gpus(0));
  EXPECT_EQ(FreeOn("b"), Gpus(0));
}

TEST_F(GangReservationTest, NoneIsHeldWhereOneIsBeingBoundNorWhatWasBefore) {
  ASSERT_TRUE(state.Reserve({{"p", "a"}, {"q", "b"}}, later));
  ASSERT_TRUE(state.Assume(Member("q"), "b", later).assumed);
  EXPECT_FALSE(state.Reserve({{"p", "a"}, {"q", "b"}}, later));
  EXPECT_EQ(FreeOn("a"), Gpus(2));
  EXPECT_EQ(FreeOn("b"), Gpus(0)) << "it may be bound";
  state.Forget("q");
  EXPECT_EQ(FreeOn("b"), Gpus(2));
}

TEST_F(GangReservationTest, OtherPodsDoNotGetThem) {
  ASSERT_TRUE(state.Reserve({{"p", "a"}, {"q", "b"}}, later));
  EXPECT_FALSE(state.Assume(MakeGpuPod("other", 1), "a", later).assumed);
  EXPECT_TRUE(state.Assume(Member("p"), "a", later).assumed);
}

TEST_F(GangReservationTest, ABindThatFailedGoesBackToThem) {
  ASSERT_TRUE(state.Reserve({{"p", "a"}, {"q", "b"}}, later));
  ASSERT_TRUE(state.Assume(Member("p"), "a", later).assumed);
  state.Forget("p");
  EXPECT_EQ(FreeOn("a"), Gpus(0));
  state.UpsertPod(Member("p"));
  EXPECT_EQ(FreeOn("a"), Gpus(0)) << "news of the pod do not end it";
}

TEST_F(GangReservationTest, TheyEndWithTheirPodAtReleaseAndAtTheirTime) {
  const auto hold = [&] { ASSERT_TRUE(state.Reserve({{"p", "a"}, {"q", "b"}}, later)); };
  hold();
  state.RemovePod("p");
  EXPECT_EQ(FreeOn("a"), Gpus(2));
  EXPECT_EQ(FreeOn("b"), Gpus(0));
  state.Release({"p", "q"});
  EXPECT_EQ(FreeOn("b"), Gpus(2));
  state.UpsertPod(Member("p"));
  hold();
  state.DropStaleExpectations(later - std::chrono::seconds(1), {});
  EXPECT_EQ(FreeOn("a"), Gpus(0));
  state.DropStaleExpectations(later, {});
  EXPECT_EQ(FreeOn("a"), Gpus(2));
}

TEST_F(GangReservationTest, ABoundPodHasItsNodeWhateverWasHeld) {
  ASSERT_TRUE(state.Reserve({{"p", "a"}, {"q", "b"}}, later));
  state.UpsertPod(OnNode(Member("p"), "a"));
  state.Release({"p"});
  EXPECT_EQ(FreeOn("a"), Gpus(0));
  EXPECT_FALSE(state.Reserve({{"p", "b"}}, later)) << "it is bound";
}

TEST_F(GangReservationTest, MembersAreThoseThatWaitForNoGateAndDoNotLeave) {
  Pod gated = Member("r");
  gated.gated = true;
  Pod leaving = Member("s");
  leaving.deleting = true;
  state.UpsertPod(gated);
  state.UpsertPod(leaving);
  state.UpsertPod(MakeGpuPod("alone", 1));
  state.UpsertPod(OnNode(Member("p"), "a"));
  ASSERT_TRUE(state.Reserve({{"q", "b"}}, later));
  const auto members = state.GangMembers("team/g");
  ASSERT_EQ(members.size(), 2U);
  EXPECT_EQ(members[0].pod->uid, "p");
  EXPECT_TRUE(members[0].placed);
  EXPECT_EQ(members[0].node, "a");
  EXPECT_FALSE(members[1].placed);
  EXPECT_EQ(members[1].node, "b");
  state.RemovePod("p");
  EXPECT_EQ(state.GangMembers("team/g").size(), 1U);
  EXPECT_TRUE(state.GangMembers("team/other").empty());
}

TEST_F(GangReservationTest, SnapshotHasSucceededMembersUntilTheLastLivingOneIsGone) {
  state.NoteSucceeded("team/g", 3);
  EXPECT_EQ(state.Snapshot()->GangOf("team/g")->succeeded, 3U);
  state.UpsertPod(Member("p"));
  state.RemovePod("q");
  EXPECT_EQ(state.Snapshot()->GangOf("team/g")->succeeded, 3U);
  state.RemovePod("p");
  state.UpsertPod(Member("p"));
  EXPECT_EQ(state.Snapshot()->GangOf("team/g")->succeeded, 0U);
  state.NoteSucceeded("team/unknown", 1);
  EXPECT_EQ(state.Snapshot()->GangOf("team/unknown"), nullptr);
}

TEST_F(GangReservationTest, SnapshotHasNodesAndWaitingMembersOfAGang) {
  EXPECT_EQ(*state.Snapshot()->GangOf("team/g"),
            (GangSites{.nodes = {}, .members = 2, .waiting = 2}));
  ASSERT_TRUE(state.Reserve({{"p", "b"}, {"q", "a"}}, later));
  const auto held = state.Snapshot();
  EXPECT_EQ(held->GangOf("team/g")->nodes, (std::vector<NodeIndex>{0, 1}));
  EXPECT_EQ(held->GangOf("team/g")->waiting, 2U);
  EXPECT_EQ(held->MembersOnNodes("team/g").size(), 2U);
  state.UpsertPod(OnNode(Member("p"), "b"));
  state.UpsertPod(OnNode(Member("q"), "a"));
  EXPECT_EQ(*state.Snapshot()->GangOf("team/g"),
            (GangSites{.nodes = {0, 1}, .members = 2, .waiting = 0}));
  state.RemovePod("q");
  EXPECT_EQ(state.Snapshot()->GangOf("team/g")->nodes, (std::vector<NodeIndex>{1}));
  Pod relabelled = OnNode(Member("p"), "b");
  relabelled.gang = std::make_shared<const Gang>(Gang{"team/h", 2, {}});
  state.UpsertPod(relabelled);
  EXPECT_EQ(state.Snapshot()->GangOf("team/g"), nullptr);
  EXPECT_EQ(state.Snapshot()->GangOf("team/h")->nodes, (std::vector<NodeIndex>{1}));
  EXPECT_EQ(held->GangOf("team/g")->waiting, 2U) << "a snapshot stays as it is";
}

}  // namespace
}  // namespace synergy
