#include "engine/tuner/room.h"

#include "unit/engine/engine_fixture.h"

namespace synergy::testing {
namespace {

class RoomTest : public EngineTest {
 protected:
  std::optional<RoomPlan> RoomFor(const Pod& pod) {
    snapshot = state.Snapshot();
    return CheapestRoom(*snapshot, pod, {profiles, memory, at, std::chrono::minutes(5)},
                        [](const NodeState&) { return true; });
  }

  TunerMemory memory;
  std::shared_ptr<const ClusterSnapshot> snapshot;
};

TEST_F(RoomTest, IsWhereTheOthersLoseLeast) {
  HaveNode("n2");
  state.UpsertPod(ManagedPod("busy", "n1", 9));
  state.UpsertPod(ManagedPod("small", "n1", 3));
  state.UpsertPod(ManagedPod("idle", "n2", 12, "insensitive"));
  const auto plan = RoomFor(ManagedPod("new", "", 3));
  ASSERT_TRUE(plan);
  EXPECT_EQ(snapshot->node(plan->node).detail->name, "n2");
  ASSERT_EQ(plan->amounts.size(), 1u);
  EXPECT_EQ(plan->amounts.front().cpu, Cores(9));
  EXPECT_LT(plan->cost, 0.1);
}

TEST_F(RoomTest, CutsNoPodIfThePodFits) {
  state.UpsertPod(ManagedPod("busy", "n1", 9));
  const auto plan = RoomFor(ManagedPod("new", "", 3));
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->amounts.empty());
}

TEST_F(RoomTest, IsNoneIfTheFloorsLeaveTooLittle) {
  for (const char* name : {"a", "b", "c"}) state.UpsertPod(ManagedPod(name, "n1", 4));
  EXPECT_TRUE(RoomFor(ManagedPod("new", "", 3)));
  EXPECT_FALSE(RoomFor(ManagedPod("new", "", 4)));
}

TEST_F(RoomTest, IsNoneIfGpusLack) {
  for (const char* name : {"a", "b", "c", "d"}) state.UpsertPod(ManagedPod(name, "n1", 3));
  EXPECT_FALSE(RoomFor(ManagedPod("new", "", 1)));
}

TEST_F(RoomTest, IsNotLookedForWhereThePodMayNotGo) {
  state.UpsertPod(ManagedPod("idle", "n1", 12, "insensitive"));
  Pod pod = ManagedPod("new", "", 3);
  auto waiting = std::make_shared<Waiting>(*pod.waiting);
  auto selection = std::make_shared<NodeSelection>();
  selection->node_selector = {{"zone", "b"}};
  waiting->selection = std::move(selection);
  pod.waiting = std::move(waiting);
  EXPECT_FALSE(RoomFor(pod));
}

// Room on n1 for job "next" of a GPU and six cores, once job "ends" is done.
class RoomAheadTest : public RoomTest {
 protected:
  RoomAheadTest() {
    next.job = "team/next";
    next.places = {{"n1", Gpus(1), Cores(6), GiB(4)}};
    next.waits_for = {"team/ends"};
  }

  std::optional<RoomPlan> RoomAheadOfNext() {
    snapshot = state.Snapshot();
    return RoomAhead(*snapshot, *snapshot->Find("n1"), {&next},
                     {profiles, memory, at, std::chrono::minutes(5)});
  }

  GpuReservation next;
};

TEST_F(RoomAheadTest, IsWhatTheAwaitedJobsDoNotLeave) {
  state.UpsertPod(ManagedPod("ends", "n1", 3, "insensitive"));
  state.UpsertPod(ManagedPod("stays", "n1", 9));
  const auto plan = RoomAheadOfNext();
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->amounts.size(), 2u);
  // "ends" has surplus, but leaves all that it has.
  for (size_t i = 0; i < 2; ++i) {
    const bool ends = plan->node_shares.pods[i]->name == "ends";
    EXPECT_EQ(plan->amounts[i].cpu, ends ? Cores(3) : Cores(6));
  }
}

TEST_F(RoomAheadTest, IsThereIfTheAwaitedJobsLeaveEnough) {
  state.UpsertPod(ManagedPod("ends", "n1", 6));
  state.UpsertPod(ManagedPod("stays", "n1", 6));
  const auto plan = RoomAheadOfNext();
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->amounts.empty());
}

TEST_F(RoomAheadTest, IsNoneIfItWouldTakeFromFloors) {
  state.UpsertPod(ManagedPod("ends", "n1", 3));
  state.UpsertPod(ManagedPod("stays", "n1", 9));
  next.places.front().cpu = Cores(9);
  EXPECT_TRUE(RoomAheadOfNext());
  next.places.front().cpu = Cores(10);
  EXPECT_FALSE(RoomAheadOfNext());
}

TEST_F(RoomAheadTest, IsForJobsThatHaveNoPlaceThereYet) {
  state.UpsertPod(ManagedPod("next", "n1", 6));
  state.UpsertPod(ManagedPod("stays", "n1", 6));
  const auto plan = RoomAheadOfNext();
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->amounts.empty());
}

}  // namespace
}  // namespace synergy::testing
