#include "engine/gangs/preempting_gangs.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/annotations.h"
#include "support/managed_pods.h"

namespace synergy::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class PreemptingGangsTest : public ::testing::Test {
 protected:
  PreemptingGangsTest() {
    state.UpsertNode(NodeOfFour("n1"));
    state.UpsertPod(WithPriority(ManagedPod("lowest", "n1", 3), -1));
  }

  void Add(const std::string& name, const std::string& gang, int32_t size, int32_t priority = 0,
           const std::string& node = {}) {
    Pod pod = WithPriority(ManagedPod(name, node, 3), priority);
    pod.gang =
        std::make_shared<const Gang>(Gang{.name = gang, .size = size, .problem = {}, .spread = {}});
    state.UpsertPod(std::move(pod));
  }
  void ChangeWaiting(const std::string& name, const std::function<void(Waiting&)>& change) {
    Pod pod = *state.FindPod(name);
    Waiting waiting = *pod.waiting;
    change(waiting);
    pod.waiting = std::make_shared<const Waiting>(std::move(waiting));
    state.UpsertPod(std::move(pod));
  }
  std::vector<WaitingGang> Due() {
    return GangsToPreemptFor(*state.Snapshot(), state.WaitingPods(), {}, now);
  }
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    for (const WaitingGang& gang : Due()) names.push_back(gang.name);
    return names;
  }

  ClusterState state;
  WallTime now = WallTime{} + std::chrono::hours(1);
};

TEST_F(PreemptingGangsTest, HighestPriorityIsFirstThenTheLongestWait) {
  for (const char* gang : {"low", "late", "early"}) {
    Add(gang + std::string("-0"), gang, 2, 5);
    Add(gang + std::string("-1"), gang, 2, gang == std::string("low") ? 1 : 7);
  }
  ChangeWaiting("late-1", [&](Waiting& w) { w.since = now - std::chrono::minutes(1); });
  EXPECT_THAT(Names(), ElementsAre("early", "late", "low"));
  EXPECT_EQ(Due().front().priority, 5) << "that of the member with the least";
  EXPECT_THAT(Due().front().members, SizeIs(2));
}

TEST_F(PreemptingGangsTest, AGangWaitsForItsMembersFirstUnlessItRuns) {
  Add("m-0", "gang", 2);
  EXPECT_THAT(Names(), IsEmpty());
  Add("m-1", "gang", 2);
  EXPECT_THAT(Names(), ElementsAre("gang"));
  Add("n-0", "running", 3, 0, "n1");
  Add("n-1", "running", 3);
  EXPECT_THAT(Names(), ElementsAre("gang", "running"));
}

TEST_F(PreemptingGangsTest, AGangDoesNotWaitForMembersThatHaveSucceeded) {
  Add("m-0", "gang", 3);
  state.NoteSucceeded("gang", 1);
  EXPECT_THAT(Names(), IsEmpty());
  state.NoteSucceeded("gang", 2);
  EXPECT_THAT(Names(), ElementsAre("gang"));
}

TEST_F(PreemptingGangsTest, MembersWithGatesOrThatAreBeingDeletedAreNotThere) {
  Add("m-0", "gang", 2);
  Add("m-1", "gang", 2);
  Pod gated = *state.FindPod("m-1");
  gated.gated = true;
  state.UpsertPod(gated);
  EXPECT_THAT(Names(), IsEmpty());
  Add("n-0", "running", 3, 0, "n1");
  Add("n-1", "running", 3);
  Pod leaving = *state.FindPod("n-0");
  leaving.deleting = true;
  state.UpsertPod(leaving);
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(PreemptingGangsTest, SkipsAGangThatEvictionCannotHelp) {
  Add("m-0", "gang", 2);
  Add("m-1", "gang", 2);
  const auto with_message = [&](const std::string& message) {
    ChangeWaiting("m-1", [&](Waiting& waiting) { waiting.message = message; });
    return Names();
  };
  EXPECT_THAT(
      with_message("0/8 nodes are available: 3 Insufficient nvidia.com/gpu, 5 node(s) didn't have "
                   "free ports for the requested pod ports. preemption: 0/8 nodes are available."),
      ElementsAre("gang"));
  for (const char* own : {"persistentvolumeclaim \"does-not-exist\" not found",
                          "pod has unbound immediate PersistentVolumeClaims"}) {
    EXPECT_THAT(with_message("0/8 nodes are available: " + std::string(own) +
                             ". preemption: 0/8 nodes are available: 8 Preemption is not helpful."),
                IsEmpty())
        << own;
  }
}

TEST_F(PreemptingGangsTest, AMemberThatDoesNotWaitForRoomKeepsItsGangOut) {
  Add("m-0", "gang", 2);
  Add("m-1", "gang", 2);
  const std::vector<std::function<void(Waiting&)>> changes = {
      [](Waiting& waiting) { waiting.unschedulable = false; },
      [](Waiting& waiting) { waiting.never_preempts = true; },
      [](Waiting& waiting) { waiting.scheduler = "default-scheduler"; },
      [this](Waiting& waiting) { waiting.since = now - std::chrono::seconds(9); }};
  for (const auto& change : changes) {
    const Waiting before = *state.FindPod("m-1")->waiting;
    EXPECT_THAT(Names(), ElementsAre("gang"));
    ChangeWaiting("m-1", change);
    EXPECT_THAT(Names(), IsEmpty());
    ChangeWaiting("m-1", [&before](Waiting& waiting) { waiting = before; });
  }
}

TEST_F(PreemptingGangsTest, SkipsAGangWithoutPodsOfLowerPriority) {
  Add("m-0", "gang", 1);
  EXPECT_THAT(Names(), ElementsAre("gang"));
  Pod unmanaged = *state.FindPod("lowest");
  unmanaged.fungible = nullptr;
  state.UpsertPod(unmanaged);
  EXPECT_THAT(Names(), IsEmpty());
  state.UpsertPod(ManagedPod("equal", "n1", 3));
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(PreemptingGangsTest, PodsThatAreNotManagedOrAreKueuesAreNotEvicted) {
  Pod pod = ManagedPod("a", "n1", 3);
  EXPECT_TRUE(MayBeEvicted(pod));
  for (const std::string_view key : {annotations::kKueuePod, annotations::kKueuePodSet})
    EXPECT_FALSE(MayBeEvicted(Labelled(pod, std::string(key), "true")));
  pod.fungible = nullptr;
  EXPECT_FALSE(MayBeEvicted(pod));
}

// Otherwise a gang with a launcher could never be a victim, whatever its priority.
TEST_F(PreemptingGangsTest, AGangGoesWithItsPodsWithoutGpus) {
  state.RemovePod("lowest");
  const auto of_gang = [](Pod pod) {
    pod.gang = std::make_shared<const Gang>(Gang{"team/victim", 2, {}});
    return pod;
  };
  for (const char* name : {"a", "b", "c"})
    state.UpsertPod(WithPriority(ManagedPod(name, "n1", 3), 9));
  state.UpsertPod(of_gang(ManagedPod("worker", "n1", 3)));
  const Pod launcher = of_gang(OnNode(MakePod("launcher", {Gpus(0), Cores(0), GiB(1)}), "n1"));
  state.UpsertPod(launcher);
  Add("m-0", "gang", 1, 5);
  const auto victims_now = [&] {
    std::vector<std::string> names;
    const auto victims = VictimsOf(*state.Snapshot(), Due().front(), {}, now);
    if (!victims) return names;
    for (const auto& pod : victims->pods) names.push_back(pod->name);
    return names;
  };
  EXPECT_THAT(victims_now(), UnorderedElementsAre("worker", "launcher"));
  state.UpsertPod(Labelled(launcher, std::string(annotations::kFungible), "false"));
  EXPECT_THAT(victims_now(), IsEmpty());
}

TEST_F(PreemptingGangsTest, OnlyNodesWhereTheMembersMayGoAreEmptied) {
  state.RemovePod("lowest");
  Node other = NodeOfFour("other");
  other.taints.push_back({.key = "reserved", .value = "", .effect = "NoSchedule"});
  state.UpsertNode(other);
  for (const char* node : {"n1", "other"}) {
    for (int pod = 0; pod < 4; ++pod) {
      Pod running = ManagedPod(node + std::string("-") + std::to_string(pod), node, 3);
      running.priority = node == std::string("n1") ? 1 : 0;
      state.UpsertPod(std::move(running));
    }
  }
  Add("m-0", "gang", 2, 5);
  Add("m-1", "gang", 2, 5);
  const auto victims = VictimsOf(*state.Snapshot(), Due().front(), {}, now);
  ASSERT_TRUE(victims);
  ASSERT_THAT(victims->pods, SizeIs(2));
  for (const auto& pod : victims->pods) EXPECT_EQ(pod->node, "n1");
}

}  // namespace
}  // namespace synergy::testing
