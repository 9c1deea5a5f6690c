#pragma once

// Plans the turns of the cluster's pods on the GPUs that they share (gpu_turns.h), node by node, as
// annotations. Each pod has one GPU, so each GPU is a rotation of its own.
//
//   pods and reports -> sharers of each GPU -> GpuTurns -> GpuTurn of each pod -> what has changed
//
// A pod takes part while its node's agent reports its GPU and does not refuse to suspend it, it has
// begun to train (with a format of progress that is known: its first iteration, for kLongestStart
// at most), and is not idle. All others run as they like, and no pod waits for them. Among sharers
// of unequal priority those below the highest have the shortest turns, since none may be suspended
// for longer than kMostSuspended.
//
// The annotations are the memory that outlives a leader: a new planner goes on with the rotations
// that it finds on a node. Rotations follow the wall clock, by which nodes carry them out.
//
// Threading: one owner.

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "cluster/gpu_turn.h"
#include "cluster/pod.h"
#include "core/clock.h"
#include "engine/sharing/gpu_turns.h"
#include "profile/pod_progress.h"

namespace synergy {

// A pod that requests GPUs in turns, on its node.
struct TurnPod {
  std::shared_ptr<const Pod> pod;
  std::optional<KnownProgress> report;  // nullopt: none in the last minutes
};

struct TurnChange {
  std::shared_ptr<const Pod> pod;
  std::optional<GpuTurn> turn;    // nullopt: the annotation is removed
  std::vector<std::string> with;  // names of the pods in `turn->with`, with their namespaces
};

struct TurnPlan {
  std::vector<TurnChange> changes;  // of annotations
  size_t in_turns = 0;              // pods
};

// Whether both describe the same times, in whichever cycle they begin, and the same partners.
bool IsSameTurn(const GpuTurn& a, const GpuTurn& b);

class TurnPlanner {
 public:
  // A pod that has not trained for its first iterations gets the next turn when it begins.
  static constexpr double kNewcomerIterations = 100;
  static constexpr Duration kLongestStart = std::chrono::minutes(10);
  // A node without any report for this long keeps its turns; its agent follows them or thaws.
  static constexpr Duration kOldReport = std::chrono::minutes(1);

  // `quantum`: as in GpuTurns.
  explicit TurnPlanner(Duration quantum) : quantum_(quantum) {}

  // `pods`: all of the cluster, by node. Call it every few seconds, and when members change.
  TurnPlan Plan(const std::map<std::string, std::vector<TurnPod>>& pods, Moment at);

 private:
  struct NodeTurns {
    GpuTurns turns;
    std::map<std::string, Instant> seen;  // pods, by uid, and since when
    std::set<std::string> begun;          // uids of those that have trained
  };

  // Returns whether the pod trains, so that it takes turns.
  static bool IsActive(NodeTurns& node, const TurnPod& pod, Instant now);
  static std::vector<GpuSharer> SharersOf(NodeTurns& node, std::span<const TurnPod> pods,
                                          Instant now);
  static void PlanNode(NodeTurns& node, std::span<const TurnPod> pods, Moment at, bool adopt,
                       TurnPlan& plan);

  Duration quantum_;
  std::map<std::string, NodeTurns> nodes_;
  WallTime latest_{};
};

}  // namespace synergy
