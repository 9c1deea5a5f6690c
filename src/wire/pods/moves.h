#pragma once

// The objects that moves of jobs (engine/sharing/moves.h) need beyond the watch of all pods. They
// are the pods that may move, the Jobs that survive a move, and the ConfigMap with the record of
// moves. A separate watch reads the pods, only if moves are enabled.
//
// Threading: pure.

#include <memory>
#include <string>
#include <string_view>

#include "cluster/node_selection.h"
#include "cluster/pod_failure.h"
#include "core/result.h"
#include "engine/sharing/move_records.h"

namespace synergy::wire {

// An annotation of a pod template, set by its author. "true": the pod's job may be moved to other
// GPUs so that another job gets room (docs/internals/sharing.md).
inline constexpr std::string_view kMovesAnnotation = "synergy.io/moves";

// A pod's part in moves.
struct MovablePod {
  std::string uid;
  ObjectOwner owner;         // its controller; no kind: there is none
  bool moves = false;        // its author allows moves (kMovesAnnotation)
  bool checkpoints = false;  // its author declares that it resumes from a checkpoint
  // The pod's conditions on nodes; null unless `moves`.
  std::shared_ptr<const NodeSelection> selection;

  const std::string& Key() const { return uid; }
};

// The effect of evictions on a Job.
struct MovableOwner {
  std::string uid;
  // Whether an evicted pod does not count as a failure: podFailurePolicy ignores DisruptionTarget,
  // and no earlier rule has another action.
  bool ignores_disruption = false;
  bool ends = false;  // it is suspended, or being deleted
};
// Reads a Job; kInvalid if the text is not an object.
Result<MovableOwner> ReadMovableOwner(std::string_view text);

inline constexpr std::string_view kMovesName = "synergy-moves";
// Return the whole ConfigMap, for a POST, and the merge patch that replaces the record. The patch
// causes a conflict if the ConfigMap has changed since it was read.
std::string WriteNewMoves(const PublishedMoves& moves);
std::string WriteMovesPatch(const PublishedMoves& moves);
// Returns kInvalid if WriteNewMoves() and WriteMovesPatch() cannot have written the text, because
// without the record, a job could move twice.
Result<PublishedMoves> ReadMoves(std::string_view text);

}  // namespace synergy::wire
