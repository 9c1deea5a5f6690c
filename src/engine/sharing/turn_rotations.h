#pragma once

// Converts rotations to the turns of pods, and back, so that a new planner continues the rotations
// in the pods' annotations.
//
// Units whose pods name each other have one rotation. A gang joins the rotations of all its
// members. Slots begin and end where parts of turns begin and end. The slot that begins with the
// first part of a unit's turn is the unit's own. In other slots, the unit runs because its GPUs are
// idle (gpu_turns.h).
//
// Threading: pure.

#include <vector>

#include "cluster/gpu_turn.h"
#include "core/clock.h"
#include "engine/sharing/gpu_turns.h"
#include "engine/sharing/turn_units.h"

namespace synergy {

// Turns are planned in wall-clock time.
inline Instant ToInstant(WallTime time) { return Instant(time.time_since_epoch()); }
inline WallTime ToWallTime(Instant time) { return WallTime(time.time_since_epoch()); }

// Returns whether both turns have the same running times, first part and partners. Their epochs may
// lie in different cycles.
bool IsSameTurn(const GpuTurn& a, const GpuTurn& b);

// Returns the turn of a sharer in the group, without partners. REQUIRES: the sharer holds a slot.
GpuTurn TurnOf(const TurnGroup& group, const std::string& sharer);

// Returns the rotations of units whose pods have turns in their annotations. Omits inconsistent
// ones. A slot whose unit has left has no holder.
std::vector<TurnGroup> RotationsOf(const TurnUnits& units, Instant now);

}  // namespace synergy
