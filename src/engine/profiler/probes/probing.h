#pragma once

// Runs probes: chooses the time, the pod and the amount of CPU of each probe, and reads the results
// (engine/profiler/profiler.h).
//
// Probes only the head of a gang (gang_members.h). The slowest pod determines the gang's speed, so
// a quota on the head has the same effect as on all members. This assumes that an iteration costs
// every pod the same CPU. If a pod uses more CPU than the head, the quota corresponds to
// proportionally more.
//
// Threading: pure.

#include <string>

#include "engine/profiler/profiler_memory.h"
#include "engine/profiler/profiler_pass.h"

namespace synergy {

// Begins a probe if it is worth its cost and the rules allow it, or marks the measurement complete.
// While probes run, chooses another pod's probe, and assumes that the running probes have their
// expected results.
void BeginProbe(ProfilerPass& pass, const MeasurementKey& key, Measurement& measurement);
// Ends running probes that have a result or must end.
void FollowProbes(ProfilerPass& pass, Measurement& measurement);
// Ends the pod's probe, if any, without a result and without counting it as a failure.
void AbandonProbe(ProfilerPass& pass, Measurement& measurement, const std::string& uid,
                  std::string why);
// Removes the pod's probe, if any, and counts its cost. The pod may be gone.
void DropProbe(ProfilerMemory& memory, Measurement& measurement, const std::string& uid);

}  // namespace synergy
