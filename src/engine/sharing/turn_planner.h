#pragma once

// Plans the turns of the cluster's pods on the GPUs that they share (gpu_turns.h), node by node,
// and expresses them as annotations. Each pod has one GPU, so each GPU has its own rotation.
//
//   pods and reports -> sharers of each GPU -> GpuTurns -> GpuTurn of each pod -> what has changed
//                                   '> PackPlanner ---^ packs
//
// A pod takes part if its node's agent reports its GPU and agrees to suspend it, its turns can be
// written, it has begun to train, and it is not idle. With a known format of progress, training
// begins with the first iteration, or after kLongestStart at the latest. All other pods run freely,
// and no pod waits for them. Among sharers of unequal priority, those below the highest have the
// shortest turns, because no pod may be suspended for longer than kMostSuspended.
//
// With packs, two sharers may have one slot together (pack_planner.h). If they are the only sharers
// of the GPU, their turn is the whole cycle.
//
// The annotations are the memory that outlives a leader: a new planner continues the rotations that
// it finds on a node. Rotations follow the wall clock, which nodes use to carry them out.
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
#include "engine/sharing/pack_planner.h"
#include "engine/sharing/pack_records.h"
#include "profile/pod_progress.h"

namespace synergy {

struct TurnChange {
  std::shared_ptr<const Pod> pod;
  std::optional<GpuTurn> turn;    // nullopt: remove the annotation
  std::vector<std::string> with;  // names, with namespaces, of the pods in `turn->with`
  std::string beside = {};        // and of `turn->beside`
};

struct TurnPlan {
  std::vector<TurnChange> changes;  // of annotations
  size_t in_turns = 0;              // pods that wait for others
  size_t packed = 0;                // pods that run at the same time as another one
  std::vector<PackNews> news;
};

// Returns whether both describe the same times, in whichever cycle they begin, and the same
// partners.
bool IsSameTurn(const GpuTurn& a, const GpuTurn& b);

class TurnPlanner {
 public:
  // A pod gets the next turn when it begins, unless it has trained for its first iterations before.
  static constexpr double kNewcomerIterations = 100;
  static constexpr Duration kLongestStart = std::chrono::minutes(10);
  // The same for a pod that reports no known format of progress. At its start, every pod reports
  // none.
  static constexpr Duration kLongestSilentStart = std::chrono::minutes(3);
  // If a node has sent no report for this long, its pods keep their turns; its agent follows them
  // or thaws the pods.
  static constexpr Duration kOldReport = std::chrono::minutes(1);

  // `quantum`: the same as in GpuTurns. `packs`: whether pods may run at the same time.
  explicit TurnPlanner(Duration quantum, bool packs = false) : quantum_(quantum), packs_(packs) {}

  // `pods`: all pods of the cluster, by node. Call it every few seconds, and whenever members
  // change.
  TurnPlan Plan(const std::map<std::string, std::vector<TurnPod>>& pods, Moment at);

  // The results of packs. A new planner may take over those of another planner, before its first
  // plan.
  const PackResults& pack_results() const { return pack_planner_.packing().results(); }
  void SetPackResults(const PackResults& results) { pack_planner_.SetResults(results); }

 private:
  struct NodeTurns {
    GpuTurns turns;
    std::map<std::string, Instant> seen;     // uids of pods, and since when
    std::set<std::string> begun;             // uids of pods that have trained
    std::map<std::string, GpuTurn> planned;  // the turns of the last plan, by uid
    std::vector<GpuSharer> sharers;          // in this step
  };

  // Returns whether the pod trains and so takes turns.
  static bool IsActive(NodeTurns& node, const TurnPod& pod, Instant now);
  static std::vector<GpuSharer> SharersOf(NodeTurns& node, std::span<const TurnPod> pods,
                                          Instant now);
  // Returns the GPUs of the node that are reported, with their pods.
  static std::vector<GpuInTurns> GpusOf(const std::string& name, const NodeTurns& node,
                                        std::span<const TurnPod> pods);
  void PlanNode(NodeTurns& node, std::span<const TurnPod> pods, Instant now,
                std::span<const GpuPack> packs, TurnPlan& plan) const;
  // Returns the packs, by node.
  std::map<std::string, std::vector<GpuPack>> PlanPacks(
      const std::map<std::string, std::vector<TurnPod>>& pods, Moment at, TurnPlan& plan);

  Duration quantum_;
  bool packs_;
  PackPlanner pack_planner_;
  std::map<std::string, NodeTurns> nodes_;
  WallTime latest_{};
};

}  // namespace synergy
