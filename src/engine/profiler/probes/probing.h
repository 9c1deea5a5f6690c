#pragma once

// Runs probes: decides when to probe which pod with how much CPU, and reads the results
// (engine/profiler/profiler.h).
//
// Probes only the head of a gang (gang_members.h). The slowest pod sets the pace, so the gang runs
// at the speed that the head has under the quota, as if all members had the quota. This assumes
// that an iteration costs each pod equally much CPU; if one pod uses more, the quota stands for
// proportionally more.
//
// Threading: pure.

#include <string>

#include "engine/profiler/profiler_memory.h"
#include "engine/profiler/profiler_pass.h"

namespace synergy {

// Begins a probe if it is worth its cost and the rules allow it, or marks the measurement complete.
// While probes run, chooses the next one, of another pod, as if they had their expected results.
void BeginProbe(ProfilerPass& pass, const MeasurementKey& key, Measurement& measurement);
// Ends running probes that have a result or must end.
void FollowProbes(ProfilerPass& pass, Measurement& measurement);
// Ends the pod's probe, if any, without a result and without counting it as a failure.
void AbandonProbe(ProfilerPass& pass, Measurement& measurement, const std::string& uid,
                  std::string why);
// Removes the pod's probe, if any, and counts its cost. The pod may be gone.
void DropProbe(ProfilerMemory& memory, Measurement& measurement, const std::string& uid);

}  // namespace synergy
