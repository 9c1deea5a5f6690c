#pragma once

// Plans the turns of the cluster's pods on the GPUs that they share (gpu_turns.h), and the
// annotations that contain these turns.
//
//   pods and reports -> units (turn_units.h) -> GpuTurns -> GpuTurn of each pod -> what has changed
//                                 '> PackPlanner ---^ packs
//
// A unit is a pod or a gang. Each pod has one GPU. A gang joins the rotations of all its GPUs into
// one. All members of a gang have the same turn. An agent never suspends a member whose GPU no
// other unit uses.
//
// A unit takes part if its pods may be suspended, it has begun to train, and it is not idle. With a
// known format of progress, training begins with the first iteration, or after kLongestStart at the
// latest; one member's progress suffices for a gang. All other units run freely, and no pod waits
// for them. Sharers below the highest priority on a GPU have the shortest turns, but still have
// turns, because no pod may be suspended for longer than kMostSuspended.
//
// With packs, two sharers may have one slot together (pack_planner.h). If they are the only sharers
// of the GPU, their turn is the whole cycle. Pods are not packed on a GPU that a gang also uses.
//
// While a node's agent sends no reports, the rotations of its pods do not change, not even on the
// other nodes of a gang. No unit joins the GPUs of these rotations.
//
// The annotations are the only state that outlives a leader. A new planner continues the rotations
// that it finds in them (turn_rotations.h). Rotations follow the wall clock, as the node agents do.
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
  std::string beside = {};        // name, with namespace, of the pod in `turn->beside`
};

struct TurnPlan {
  std::vector<TurnChange> changes;  // of annotations
  size_t in_turns = 0;              // pods that are suspended for others in their cycle
  size_t packed = 0;                // pods that run at the same time as another one
  std::vector<PackNews> news;
};

class TurnPlanner {
 public:
  using PodsByNode = std::map<std::string, std::vector<TurnPod>>;

  // A unit with fewer iterations gets the next turn when it becomes active.
  static constexpr double kNewcomerIterations = 100;
  static constexpr Duration kLongestStart = std::chrono::minutes(10);
  // The longest start of a pod whose reports have no known format of progress. At first, no pod's
  // report has one.
  static constexpr Duration kLongestSilentStart = std::chrono::minutes(3);
  // If a node has sent no report for this long, its rotations do not change. Its agent follows them
  // or thaws the pods.
  static constexpr Duration kOldReport = std::chrono::minutes(1);

  // `quantum`: the same as in GpuTurns. `packs`: whether pods may run at the same time.
  explicit TurnPlanner(Duration quantum, bool packs = false)
      : quantum_(quantum), packs_(packs), turns_(quantum) {}

  // Returns the changes to make. `pods`: all pods of the cluster that request GPUs in turns, by
  // node. Call it every few seconds, and whenever those pods change.
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

  // Adopts rotations if nodes are new, and finds the nodes whose agents send no reports.
  void LookAtNodes(const PodsByNode& pods, const TurnUnits& units, Instant now);
  // Holds the units of nodes without reports, and units that share GPUs with them on other nodes.
  // Returns those GPUs on other nodes.
  std::set<GpuBlock> HoldUnits(const TurnUnits& units);
  // Returns whether the unit trains and so takes turns.
  bool IsActive(const TurnUnit& unit, Instant now);
  void SetSharers(const TurnUnits& units, Instant now);
  void SetWeights();
  // Returns the node's reported GPUs with their pods, except GPUs on which gangs take turns.
  std::vector<GpuInTurns> GpusOf(const std::string& name, std::span<const TurnPod> pods) const;
  std::vector<GpuPack> PlanPacks(const PodsByNode& pods, Moment at, TurnPlan& plan);
  // Set `planned_`: first for held units, then for the others.
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
