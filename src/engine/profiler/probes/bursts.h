#pragma once

// Bursts of pods that are being measured (engine/profiler/profiler.h). For up to 110 s, a pod that
// its CPU limit slows down may use the CPU that its node's other pods leave unused. Its speed in
// that time gives a point above its fair share, without any cost to other pods.
//
//   its limit held it back for 20 s, and 20 s of the others' counters show what they do not use
//     --> burst --> its time is over, its limit changes, it is probed, or the others use more
//
// Counters of CPU time decide when a burst starts, because the log may arrive in large pieces.
// Requests do not change, so kube-scheduler counts the same amounts as before. CPU weights return
// the CPU at once when the other pods need it. Synergy never bursts
//
//   * pods without a limit, which may use idle CPU anyway
//   * pods whose limit is whole CPUs, which a static CPU manager pins
//   * beyond a limit that the pod's author wrote
//   * pods of gangs, because all members would need a burst
//   * pods of a workload whose measurement is complete
//
// Threading: pure.

#include <string>

#include "engine/profiler/profiler_memory.h"
#include "engine/profiler/profiler_pass.h"
#include "profile/pod_progress.h"

namespace synergy {

// Records the CPU time of a pod, whether or not the pod reports progress.
void NoteUse(ProfilerMemory& memory, WatchedPod& pod, const PodProgress& progress, Moment at);

// Plans the ends of bursts, their extensions, and new bursts.
void PlanBursts(ProfilerPass& pass);

// Processes the outcome of a request to begin a burst.
void OnBurstResult(ProfilerMemory& memory, WatchedPod& pod, bool done, Moment at);

// Drops the record of the pod's burst, if any, without an action. Call it when the pod is gone or a
// probe replaces the burst.
void DropBurst(ProfilerMemory& memory, WatchedPod& pod);

}  // namespace synergy
