// Tests plans of moves (engine/sharing/move_planner.h) on generated clusters: both jobs have room
// by a simple count, nothing that must stay moves, and no job moves twice.

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "cluster/state/cluster_state.h"
#include "engine/sharing/move_planner.h"
#include "support/cluster_vocabulary.h"

namespace synergy::testing {
namespace {

constexpr int64_t kGpusOfNode = 4;

// Draws small numbers more often.
int64_t DrawMove(int64_t least, int64_t most) {
  return *rc::gen::inRange<int64_t>(least, most + 1);
}

std::shared_ptr<const NodeSelection> DrawSelection() {
  NodeSelection selection;
  if (DrawMove(0, 5) == 5) selection.node_selector = {{"zone", DrawMove(0, 1) == 0 ? "a" : "b"}};
  return std::make_shared<const NodeSelection>(std::move(selection));
}

struct MoveScene {
  ClusterState state;
  std::map<std::string, std::string> zone_of;  // nodes that take pods
  MovesView view;

  MoveScene() {
    const int64_t nodes = DrawMove(2, 4);
    int next = 0;
    for (int64_t i = 0; i < nodes; ++i) {
      const std::string name = "n" + std::to_string(i);
      Node node = MakeNode(name, {Gpus(kGpusOfNode), Cores(64), GiB(64)});
      node.unschedulable = DrawMove(0, 9) == 9;
      const std::string zone = DrawMove(0, 1) == 0 ? "a" : "b";
      node.labels = {{"zone", zone}};
      state.UpsertNode(node);
      if (!node.unschedulable) zone_of[name] = zone;
      int64_t free = kGpusOfNode;
      const int64_t pods = DrawMove(1, 2);
      for (int64_t pod = 0; pod < pods && free > 0; ++pod) {
        const int64_t gpus = DrawMove(1, std::min<int64_t>(free, 2));
        free -= gpus;
        AddRunning("j" + std::to_string(next++), name, gpus);
      }
    }
    for (int64_t i = 0; i < DrawMove(1, 2); ++i) AddWaiter("w" + std::to_string(i));
    view.snapshot = state.Snapshot();
  }

  void AddRunning(const std::string& name, const std::string& node, int64_t gpus) {
    Pod pod = OnNode(MakeGpuPod(name, gpus), node);
    if (DrawMove(0, 7) != 7) pod.fungible = std::make_shared<const ManagedContainer>();
    pod.priority = static_cast<int32_t>(DrawMove(0, 2));
    pod.deleting = DrawMove(0, 15) == 15;
    state.UpsertPod(pod);
    MovingJob job{.name = name, .pods = {state.FindPod(name)}, .selection = DrawSelection()};
    job.checkpoints = DrawMove(0, 4) != 4;
    if (DrawMove(0, 4) != 4) job.restart = std::chrono::seconds(DrawMove(1, 300));
    view.ends.push_back({job.pods, std::chrono::seconds(7200 - DrawMove(0, 7200))});
    view.jobs.push_back(std::move(job));
  }
  void AddWaiter(const std::string& name) {
    JobInLine job{.name = name};
    job.priority = 2 - static_cast<int32_t>(DrawMove(0, 2));
    const int64_t count = DrawMove(1, 2);
    const int64_t gpus = kGpusOfNode - DrawMove(0, kGpusOfNode - 2);
    const auto selection = DrawSelection();
    for (int64_t i = 0; i < count; ++i) {
      Pod pod = MakeGpuPod(name + "-" + std::to_string(i), gpus);
      pod.priority = job.priority;
      auto waiting = std::make_shared<Waiting>();
      waiting->unschedulable = true;
      waiting->selection = selection;
      pod.waiting = std::move(waiting);
      state.UpsertPod(pod);
      job.pods.push_back(state.FindPod(pod.uid));
    }
    view.waiters.push_back(std::move(job));
  }
  std::map<std::string, int64_t> Used() const {
    std::map<std::string, int64_t> used;
    for (const MovingJob& job : view.jobs) {
      for (const auto& pod : job.pods) used[pod->node] += pod->requests.main.gpus.count();
    }
    return used;
  }
  bool Allows(const NodeSelection& selection, const std::string& node) const {
    const auto zone = zone_of.find(node);
    return zone != zone_of.end() && (selection.node_selector.empty() ||
                                     selection.node_selector.front().second == zone->second);
  }
};

RC_GTEST_PROP(MovesProperty, APlanLeavesRoomForBothAndMovesOnlyWhatMay, ()) {
  const MoveScene scene;
  GpuMoves moves;
  const auto plan = PlanMove(moves, scene.view);
  RC_CLASSIFY(plan.has_value(), "a move");
  if (!plan) return;
  std::map<std::string, int64_t> used = scene.Used();
  RC_ASSERT(plan->to.size() == plan->job.pods.size());
  RC_ASSERT(plan->places.size() == plan->waiter.pods.size());
  for (const auto& pod : plan->job.pods) {
    RC_ASSERT(pod->fungible != nullptr);
    RC_ASSERT(!pod->deleting);
    RC_ASSERT(pod->priority <= plan->waiter.priority);
    used[pod->node] -= pod->requests.main.gpus.count();
  }
  RC_ASSERT(plan->job.checkpoints);
  // Pods that are ending leave.
  for (const MovingJob& job : scene.view.jobs) {
    if (job.pods.front()->deleting)
      used[job.pods.front()->node] -= job.pods.front()->requests.main.gpus.count();
  }
  for (const PlannedPlace& place : plan->places) {
    RC_ASSERT(scene.Allows(*place.pod->waiting->selection, place.node));
    used[place.node] += place.pod->requests.main.gpus.count();
  }
  for (const PlannedPlace& place : plan->to) {
    RC_ASSERT(scene.Allows(*plan->job.selection, place.node));
    used[place.node] += place.pod->requests.main.gpus.count();
  }
  for (const auto& [node, gpus] : used) RC_ASSERT(gpus <= kGpusOfNode);
  // The gain is worth it.
  int64_t waiting = 0;
  for (const auto& pod : plan->waiter.pods) waiting += pod->requests.main.gpus.count();
  const int64_t moving = plan->job.pods.front()->requests.main.gpus.count();
  RC_ASSERT(Seconds(plan->waits).count() * static_cast<double>(waiting) >
            2 * Seconds(*plan->job.restart).count() * static_cast<double>(moving));
  // One move at a time, and one for each job.
  RC_ASSERT(!PlanMove(moves, scene.view));
  std::set<std::string> moved{plan->job.name};
  moves.OnResult(plan->job.name, true);
  while (const auto next = PlanMove(moves, scene.view)) {
    RC_ASSERT(moved.insert(next->job.name).second);
    moves.OnResult(next->job.name, true);
  }
}

}  // namespace
}  // namespace synergy::testing
