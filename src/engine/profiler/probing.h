#pragma once

// Probes: which, of which pod, when; and what they told (engine/profiler/profiler.h).
//
// Of a gang one pod is probed, its head (gang_members.h): the slowest sets the pace, so that the
// gang goes at the speed that the head has with the quota, as if all had it. That takes it that an
// iteration costs each of them as much CPU as it does the others; where one uses more, the quota
// stands for as much more.
//
// Threading: pure.

#include <string>

#include "engine/profiler/profiler_memory.h"
#include "engine/profiler/profiler_turn.h"

namespace synergy {

// Begins a probe where one is worth it and the rules allow it, or marks the measurement complete.
void BeginProbe(ProfilerTurn& turn, const MeasurementKey& key, Measurement& measurement);
// Ends the running one once it has told what it can, or has to end.
void FollowProbe(ProfilerTurn& turn, Measurement& measurement);
// Ends the running one: it tells nothing, and nobody is to blame.
void AbandonProbe(ProfilerTurn& turn, Measurement& measurement, std::string why);
// It is over; what it has cost is counted. The pod may be gone.
void DropProbe(ProfilerMemory& memory, Measurement& measurement);

}  // namespace synergy
