#pragma once

// Runs probes: decides which, of which pod and when, and reads their results
// (engine/profiler/profiler.h).
//
// Only the head of a gang is probed (gang_members.h). The slowest pod sets the pace, so the gang
// runs at the speed that the head has with the quota, as if all had it. This assumes that an
// iteration costs each pod as much CPU as the others; if one uses more, the quota stands for
// proportionally more.
//
// Threading: pure.

#include <string>

#include "engine/profiler/profiler_memory.h"
#include "engine/profiler/profiler_pass.h"

namespace synergy {

// Begins a probe if one is worth it and the rules allow it, or marks the measurement complete.
// While probes run, the next one is chosen as if they had their expected results, and of another
// pod.
void BeginProbe(ProfilerPass& pass, const MeasurementKey& key, Measurement& measurement);
// Ends running probes that have a result or have to end.
void FollowProbes(ProfilerPass& pass, Measurement& measurement);
// Ends the pod's probe, if there is one, without a result and without counting it as a failure.
void AbandonProbe(ProfilerPass& pass, Measurement& measurement, const std::string& uid,
                  std::string why);
// Removes the pod's probe, if there is one, and counts its cost. The pod may be gone.
void DropProbe(ProfilerMemory& memory, Measurement& measurement, const std::string& uid);

}  // namespace synergy
