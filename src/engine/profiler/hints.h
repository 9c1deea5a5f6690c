#pragma once

// Avoids repeated measurements of similar workloads (profile/measured/workload_identities.h), such
// as the trials of a hyperparameter sweep or the runs of a CronJob.
//
//   * A confirmed profile of a similar workload is a hint. One window that agrees with it, in speed
//     and in CPU seconds, confirms the hint: the workload takes over its points without probes. A
//     window that disagrees drops the hint, and the workload is measured like any other.
//   * One of several similar workloads that run at the same time is probed. The others wait for its
//     result, for a limited time after its last probe began.
//
// Threading: pure.

#include "engine/profiler/profiler_memory.h"
#include "engine/profiler/profiler_pass.h"

namespace synergy {

// Records the looser identities of a pod of the workload, unless the measurement already has some.
void NoteIdentities(Measurement& measurement, const LooserIdentities& alike);

// Takes over the points of a similar workload if the measured points agree with them. Does nothing
// once the measurement is complete, or before it has a point.
void TryHints(ProfilerPass& pass, const MeasurementKey& key, Measurement& measurement);

// Returns whether the workload may be probed now. If so, similar workloads wait for its result.
bool TakesLead(ProfilerPass& pass, const MeasurementKey& key, const Measurement& measurement);
// Lets similar workloads stop waiting for this one. Call it when the measurement ends.
void GiveUpLead(ProfilerMemory& memory, const MeasurementKey& key, const Measurement& measurement);

}  // namespace synergy
