#pragma once

// Measures similar workloads only once (profile/measured/workload_identities.h): the trials of a
// sweep over seeds and learning rates, the runs of a CronJob.
//
//   * A confirmed profile of a similar workload is a hint. One window that agrees with it, in speed
//     and in CPU seconds, confirms it: its points are taken over, without probes. One that does not
//     agree drops it, and the workload is measured as any other.
//   * Of several similar workloads that run at the same time, one is probed. The others wait for
//     its result, for a limited time after its last probe began.
//
// Threading: pure.

#include "engine/profiler/profiler_memory.h"
#include "engine/profiler/profiler_pass.h"

namespace synergy {

// Records the looser identities of a pod of the workload. The first that are known stay.
void NoteIdentities(Measurement& measurement, const LooserIdentities& alike);

// Takes over the points of a similar workload if the measured ones agree with them. Does nothing
// once the measurement is complete, or before it has a point.
void TryHints(ProfilerPass& pass, const MeasurementKey& key, Measurement& measurement);

// Returns whether the workload may be probed now. If so, similar ones wait for it from now on.
bool TakesLead(ProfilerPass& pass, const MeasurementKey& key, const Measurement& measurement);
// Call it when the measurement ends: others need not wait for it any longer.
void GiveUpLead(ProfilerMemory& memory, const MeasurementKey& key, const Measurement& measurement);

}  // namespace synergy
