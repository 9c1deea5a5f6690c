#pragma once

// Converts rotations to the turns of pods, and back, so that a new planner continues what pods'
// annotations describe.
//
// Units whose pods name each other are one rotation; a gang joins those of all its members. Slots
// begin and end where the parts of turns do. The slot that begins with the first part of a unit's
// turn is its own; in the others it runs because its GPUs are idle (gpu_turns.h).
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

// Returns whether both describe the same times, in whichever cycle they begin, the same first part,
// and the same partners.
bool IsSameTurn(const GpuTurn& a, const GpuTurn& b);

// Returns the turn of a sharer in the group, without partners. REQUIRES: it holds a slot.
GpuTurn TurnOf(const TurnGroup& group, const std::string& sharer);

// Returns the rotations of units whose pods have turns written, if these are consistent. A slot
// whose unit has left has no holder.
std::vector<TurnGroup> RotationsOf(const TurnUnits& units, Instant now);

}  // namespace synergy
