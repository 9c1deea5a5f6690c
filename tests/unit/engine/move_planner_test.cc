#include "engine/sharing/move_planner.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/state/cluster_state.h"
#include "engine/sharing/move_records.h"
#include "support/cluster_vocabulary.h"

namespace synergy::testing {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;

constexpr WallTime kMoveWall{hours(500)};

// Nodes "m" and "n" of four GPUs. Jobs "a" and "b" have two of each node, and end in an hour. "w"
// waits for four.
class MovePlannerTest : public ::testing::Test {
 protected:
  MovePlannerTest() {
    AddMoveNode("m");
    AddMoveNode("n");
    AddJob("a", {"m"}, 2);
    AddJob("b", {"n"}, 2);
    Wait("w", 4);
  }

  void AddMoveNode(const std::string& name, bool cordoned = false) {
    Node node = MakeNode(name, {Gpus(4), Cores(64), GiB(64)});
    node.gpu_kinds.products = {"v100"};
    node.unschedulable = cordoned;
    node.labels = {{"zone", name}};
    state.UpsertNode(node);
  }
  static Pod Running(const std::string& name, const std::string& node, int64_t gpus) {
    Pod pod = OnNode(MakeGpuPod(name, gpus), node);
    pod.fungible = std::make_shared<const ManagedContainer>();
    return pod;
  }
  void AddJob(const std::string& name, const std::vector<std::string>& nodes, int64_t gpus,
              Duration left = hours(1)) {
    MovingJob job;
    job.name = "uid-" + name;
    job.workload = "team/of-" + name;
    job.selection = std::make_shared<const NodeSelection>();
    job.checkpoints = true;
    job.restart = seconds(60);
    for (size_t i = 0; i < nodes.size(); ++i) {
      Pod pod = Running(name + std::to_string(i), nodes[i], gpus);
      if (nodes.size() > 1) {
        pod.gang = std::make_shared<const Gang>(
            Gang{.name = "team/" + name, .size = static_cast<int32_t>(nodes.size())});
      }
      state.UpsertPod(pod);
      job.pods.push_back(state.FindPod(pod.uid));
    }
    view.ends.push_back({job.pods, left});
    view.jobs.push_back(std::move(job));
  }
  void ChangePods(MovingJob& job, const std::function<void(Pod&)>& change) {
    for (auto& pod : job.pods) {
      Pod changed = *pod;
      change(changed);
      state.UpsertPod(changed);
      pod = state.FindPod(changed.uid);
    }
  }
  void Wait(const std::string& name, int64_t gpus, int64_t cores = 4,
            NodeSelection selection = {}) {
    Pod pod = MakePod(name, {Gpus(gpus), Cores(cores), GiB(4)});
    auto waiting = std::make_shared<Waiting>();
    waiting->scheduler = "synergy-scheduler";
    waiting->unschedulable = true;
    waiting->selection = std::make_shared<const NodeSelection>(std::move(selection));
    pod.waiting = std::move(waiting);
    state.UpsertPod(pod);
    JobInLine job;
    job.name = "team/" + name;
    job.pods = {state.FindPod(name)};
    view.waiters.push_back(std::move(job));
  }
  std::optional<PlannedMove> Plan() {
    view.snapshot = state.Snapshot();
    view.wall = kMoveWall;
    GpuMoves fresh = moves;
    return PlanMove(fresh, view);
  }
  // Returns "a -> n, w -> m".
  std::string Text() {
    const auto plan = Plan();
    if (!plan) return "none";
    std::string text = plan->job.name.substr(4) + " ->";
    for (const PlannedPlace& place : plan->to) text += " " + place.node;
    text += ", " + plan->waiter.name.substr(5) + " ->";
    for (const PlannedPlace& place : plan->places) text += " " + place.node;
    return text;
  }

  ClusterState state;
  MovesView view;
  GpuMoves moves;
};

TEST_F(MovePlannerTest, OneMoveMakesRoomOfFragments) {
  EXPECT_EQ(Text(), "a -> n, w -> m");
  EXPECT_EQ(Plan()->waits, hours(1));
  EXPECT_EQ(Plan()->kind, "v100x4");
}

TEST_F(MovePlannerTest, SelectorsOfTheWaiterAndOfTheJobAreRespected) {
  view.waiters.clear();
  state.RemovePod("w");
  Wait("w", 4, 4, {.node_selector = {{"zone", "n"}}});
  EXPECT_EQ(Text(), "b -> m, w -> n");
  view.jobs[1].selection =
      std::make_shared<const NodeSelection>(NodeSelection{.node_selector = {{"zone", "n"}}});
  EXPECT_EQ(Text(), "none");
}

TEST_F(MovePlannerTest, CordonedNodesAreNotFree) {
  AddMoveNode("n", true);
  EXPECT_EQ(Text(), "none") << "a cannot go to n, and w cannot either";
}

TEST_F(MovePlannerTest, JobsOfHigherPriorityStay) {
  ChangePods(view.jobs[0], [](Pod& pod) { pod.priority = 1; });
  EXPECT_EQ(Text(), "b -> m, w -> n");
  view.waiters[0].priority = 1;
  EXPECT_EQ(Text(), "a -> n, w -> m");
}

TEST_F(MovePlannerTest, ABudgetProtectsAJob) {
  ChangePods(view.jobs[0], [](Pod& pod) { pod.labels = {{"app", "a"}}; });
  DisruptionBudget budget{.uid = "b", .pod_namespace = "team", .name = "b"};
  budget.selector.requirements = {{"app", LabelSelector::Operator::kIn, {"a"}}};
  state.UpsertDisruptionBudget(budget);
  EXPECT_EQ(Text(), "b -> m, w -> n");
}

TEST_F(MovePlannerTest, OnlyManagedJobsOutsideOfKueueMove) {
  ChangePods(view.jobs[0], [](Pod& pod) { pod.fungible = nullptr; });
  ChangePods(view.jobs[1], [](Pod& pod) { pod.labels = {{"kueue.x-k8s.io/podset", "main"}}; });
  EXPECT_EQ(Text(), "none");
}

TEST_F(MovePlannerTest, AGangMovesWholeOrNotAtAll) {
  state.RemovePod("b0");
  view.jobs.pop_back();
  view.ends.pop_back();
  state.RemovePod("a0");
  view.jobs.clear();
  view.ends.clear();
  AddJob("g", {"m", "m"}, 1);
  AddJob("rest", {"n"}, 2);
  view.jobs.pop_back();  // "rest" does not move
  EXPECT_EQ(Text(), "g -> n n, w -> m");
  view.jobs[0].pods.pop_back();
  EXPECT_EQ(Text(), "none");
}

TEST_F(MovePlannerTest, AWaiterThatLacksOnlyCpuOrFitsNeedsNoMove) {
  view.waiters.clear();
  Wait("small", 2);
  EXPECT_EQ(Text(), "none") << "it fits";
  view.waiters.clear();
  Wait("thirsty", 2, 63);
  EXPECT_EQ(Text(), "none") << "only CPU is short";
}

TEST_F(MovePlannerTest, RoomThatIsReservedForOthersIsNotFree) {
  GpuReservation reservation{.job = "team/other", .places = {{"n", Gpus(4)}}};
  view.reservations = {reservation};
  EXPECT_EQ(Text(), "none");
  view.reservations[0].places = {{"m", Gpus(4)}};
  view.reservations[0].job = "team/w";
  EXPECT_EQ(Text(), "a -> n, w -> m");
}

TEST_F(MovePlannerTest, KeptPlacesAreNotFree) {
  Pod kept = MakeGpuPod("kept", 2);
  auto waiting = std::make_shared<Waiting>();
  waiting->scheduler = "synergy-scheduler";
  waiting->kept_node = "n";
  waiting->kept_until = kMoveWall + minutes(1);
  waiting->selection = std::make_shared<const NodeSelection>();
  kept.waiting = std::move(waiting);
  state.DropStaleExpectations(Instant{}, kMoveWall);
  state.UpsertPod(kept);
  EXPECT_EQ(Text(), "none");
}

TEST_F(MovePlannerTest, TheGainCountsFromKnownEnds) {
  view.ends.clear();
  EXPECT_EQ(Text(), "none") << "how long w would wait is unknown";
  view.ends = {{view.jobs[0].pods, seconds(59)}};
  EXPECT_EQ(Text(), "none") << "4 GPUs for 59 s, not twice 2 GPUs for 60 s";
  view.ends[0].left = seconds(61);
  EXPECT_EQ(Text(), "a -> n, w -> m");
}

TEST_F(MovePlannerTest, AWorsePlacementIsNotTriedAgain) {
  moves.StartOver({}, {{"team/of-a", "v100x4"}});
  EXPECT_EQ(Text(), "b -> m, w -> n");
  moves.StartOver({"uid-b"}, {{"team/of-a", "v100x4"}});
  EXPECT_EQ(Text(), "none");
}

TEST(MoveRecordsTest, KnowWhichJobsMovedAndForgetThoseThatAreGone) {
  PublishedMoves record;
  record.moves = {{.owner = "old", .waiter = "team/w 1", .at = kMoveWall - hours(24 * 8)},
                  {.owner = "lives", .waiter = "team/v 2", .at = kMoveWall - hours(24 * 8)},
                  {.owner = "new", .at = kMoveWall}};
  record.DropGone({"lives"}, kMoveWall);
  EXPECT_THAT(record.Moved(), ElementsAre("lives", "new"));
  EXPECT_TRUE(record.WasHelped("team/v 2"));
  EXPECT_FALSE(record.WasHelped("team/w 1"));
  for (size_t i = 0; i < 2 * PublishedMoves::kMostWorse; ++i)
    record.AddWorse({"team/" + std::to_string(i), "v100x4"});
  EXPECT_EQ(record.Worse().size(), PublishedMoves::kMostWorse);
}

}  // namespace
}  // namespace synergy::testing
