#pragma once

// Groups pods into units that take turns on GPUs as a whole (turn_planner.h): a pod by itself, or
// the members of a gang.
//
// A unit takes part if each of its pods may be suspended. For that, the node agent must report one
// GPU and allow suspension, and the pod's annotations must be writable. A gang also needs all its
// members on nodes, and different GPUs for its pods. Otherwise all pods of the unit run freely.
//
// Threading: pure.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cluster/pod.h"
#include "engine/sharing/gpu_turns.h"
#include "engine/sharing/pack_planner.h"
#include "profile/pod_progress.h"

namespace synergy {

struct TurnUnit {
  std::vector<const TurnPod*> pods;  // not terminal; in the order of nodes

  // Returns whether all members of a gang are on nodes and none is being deleted. Returns true for
  // a single pod.
  bool IsWhole() const;
  // Returns whether the unit takes part. REQUIRES: it has pods.
  bool MayShare() const;
  // Returns the largest number of iterations of any of its pods. REQUIRES: MayShare().
  double Iterations() const;
  // Returns whether all its pods are idle. REQUIRES: MayShare().
  bool IsIdle() const;
  int32_t Priority() const;  // the highest of its pods
};

using TurnUnits = std::map<std::string, TurnUnit>;  // by name

// Returns the name of the pod's unit: its uid, or the name of its gang, which no uid equals.
const std::string& UnitOf(const Pod& pod);

// Returns the units of pods that are not terminal. Omits pods with invalid gang labels.
TurnUnits UnitsOf(const std::map<std::string, std::vector<TurnPod>>& pods);

// Returns the node agent's report on the pod's turns; null if there is none.
const TurnReading* ReadingOf(const TurnPod& pod);

// Returns the pod's GPU as a block. REQUIRES: its agent reports one GPU.
GpuBlock BlockOf(const TurnPod& pod);

}  // namespace synergy
