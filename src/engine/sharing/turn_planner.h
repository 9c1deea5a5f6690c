#pragma once

// Plans the turns of the cluster's pods on the GPUs that they share (gpu_turns.h), and expresses
// them as annotations.
//
//   pods and reports -> units (turn_units.h) -> GpuTurns -> GpuTurn of each pod -> what has changed
//                                 '> PackPlanner ---^ packs
//
// A unit is a pod or a gang. Each pod has one GPU, so the GPUs of a gang join its rotations on all
// nodes into one. All members of a gang have the same turn; a member whose GPU no other unit has is
// never suspended by its agent.
//
// A unit takes part if its pods may be suspended, it has begun to train, and it is not idle. With a
// known format of progress, training begins with the first iteration, or after kLongestStart at the
// latest; of a gang one member's progress counts. All other units run freely, and no pod waits for
// them. Among sharers of unequal priority, those below the highest have the shortest turns, because
// no pod may be suspended for longer than kMostSuspended.
//
// With packs, two sharers may have one slot together (pack_planner.h). If they are the only sharers
// of the GPU, their turn is the whole cycle. No pods of a GPU are packed that a gang also has.
//
// While a node's agent is silent, the rotations of its pods stay as they are, also on the other
// nodes of a gang. No unit joins their GPUs.
//
// The annotations are the memory that outlives a leader: a new planner continues the rotations that
// it finds (turn_rotations.h). Rotations follow the wall clock, which nodes use to carry them out.
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
#include "engine/sharing/turn_rotations.h"
#include "engine/sharing/turn_units.h"

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

class TurnPlanner {
 public:
  using PodsByNode = std::map<std::string, std::vector<TurnPod>>;

  // A pod gets the next turn when it begins, unless it has trained for its first iterations before.
  static constexpr double kNewcomerIterations = 100;
  static constexpr Duration kLongestStart = std::chrono::minutes(10);
  // The same for a pod that reports no known format of progress. At its start, every pod reports
  // none.
  static constexpr Duration kLongestSilentStart = std::chrono::minutes(3);
  // If a node has sent no report for this long, its rotations stay as they are; its agent follows
  // them or thaws the pods.
  static constexpr Duration kOldReport = std::chrono::minutes(1);

  // `quantum`: the same as in GpuTurns. `packs`: whether pods may run at the same time.
  explicit TurnPlanner(Duration quantum, bool packs = false)
      : quantum_(quantum), packs_(packs), turns_(quantum) {}

  // `pods`: all pods of the cluster, by node. Call it every few seconds, and whenever members
  // change.
  TurnPlan Plan(const PodsByNode& pods, Moment at);

  // The results of packs. A new planner may take over those of another planner, before its first
  // plan.
  const PackResults& pack_results() const { return pack_planner_.packing().results(); }
  void SetPackResults(const PackResults& results) { pack_planner_.SetResults(results); }

 private:
  // A unit that takes part in this step.
  struct Sharer {
    const TurnUnit* unit = nullptr;
    GpuSharer turns;
  };

  // Adopts rotations if nodes are new, and looks which agents are silent.
  void LookAtNodes(const PodsByNode& pods, const TurnUnits& units, Instant now);
  // Holds the units of silent nodes, and those that share GPUs with them elsewhere. Returns the
  // GPUs elsewhere.
  std::set<GpuBlock> HoldUnits(const TurnUnits& units);
  // Returns whether the unit trains and so takes turns.
  bool IsActive(const TurnUnit& unit, Instant now);
  void SetSharers(const TurnUnits& units, Instant now);
  void SetWeights();
  // Returns the node's GPUs that are reported, with their pods, but for those that gangs have in
  // turns.
  std::vector<GpuInTurns> GpusOf(const std::string& name, std::span<const TurnPod> pods) const;
  std::vector<GpuPack> PlanPacks(const PodsByNode& pods, Moment at, TurnPlan& plan);
  // Set `planned_`: of the units that are held, then of the others.
  void KeepHeldTurns(const TurnUnits& units);
  void SetTurns(std::span<const GpuPack> packs);
  // Returns for each packed pod the other one, by uid.
  std::map<std::string, std::string> PackedIn(std::span<const GpuPack> packs) const;
  void AddChanges(const PodsByNode& pods, TurnPlan& plan) const;
  void ForgetGonePods(const PodsByNode& pods);

  Duration quantum_;
  bool packs_;
  PackPlanner pack_planner_;
  GpuTurns turns_;
  std::set<std::string> nodes_;             // with pods, at the last plan
  std::map<std::string, Instant> seen_;     // uids of pods, and since when
  std::set<std::string> begun_;             // uids of pods that have trained
  std::map<std::string, GpuTurn> planned_;  // the turns of the last plan, by uid
  std::map<std::string, Sharer> sharers_;   // by unit; in this step
  std::set<std::string> held_;              // units; in this step
  std::set<std::string> silent_;            // nodes; in this step
  WallTime latest_{};
};

}  // namespace synergy
