#pragma once

// Groups pods into units that take turns on GPUs as a whole (turn_planner.h): a pod by itself, or
// the members of a gang.
//
// A unit takes part if each of its pods may be suspended: its node's agent reports its only GPU and
// agrees, and its turns can be written. A gang also needs all its members on nodes, each with a GPU
// of its own. Otherwise all pods of the unit run freely.
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

  // Returns whether all members of a gang are on nodes, and stay there; true for a pod by itself.
  bool IsWhole() const;
  // Returns whether it takes part. REQUIRES: there are pods.
  bool MayShare() const;
  // Returns the largest number of iterations that one of its pods has done. REQUIRES: MayShare().
  double Iterations() const;
  // Returns whether all its pods are idle. REQUIRES: MayShare().
  bool IsIdle() const;
  int32_t Priority() const;  // the highest of its pods
};

using TurnUnits = std::map<std::string, TurnUnit>;  // by name

// Returns the name of the pod's unit: its uid, or the name of its gang, which no uid equals.
const std::string& UnitOf(const Pod& pod);

// Returns the units of pods that are not terminal. Leaves out pods with invalid labels of gangs.
TurnUnits UnitsOf(const std::map<std::string, std::vector<TurnPod>>& pods);

// Returns what the pod's agent reports of its turns; null if it reports none.
const TurnReading* ReadingOf(const TurnPod& pod);

// Returns the pod's GPU as a block. REQUIRES: its agent reports one GPU.
GpuBlock BlockOf(const TurnPod& pod);

}  // namespace synergy
