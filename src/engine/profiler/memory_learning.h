#pragma once

// The part of the profiler that finds out how memory affects a workload
// (profile/measured/memory_study.h).
//
// Threading: the same as ProfilerPass.

#include "engine/profiler/profiler_memory.h"
#include "engine/profiler/profiler_pass.h"

namespace synergy {

// Records what the pods of the measurement have shown so far. Once the memory is known, the points
// of pods that waited for storage count for the CPU cost of an iteration, and the storage limit
// covers the rest.
void LearnMemory(const ProfilerMemory& memory, Measurement& measurement);

// Ends a raise of the process memory (profile/measured/memory_raise.h) once a pod has shown that
// the larger amount suffices: the pod had that amount, was watched for as long as the killed pod
// ran, and has shown its peak.
void EndRaise(const ProfilerPass& pass, const MeasurementKey& key, Measurement& measurement);

// Returns whether storage, not CPU, limited the pod at `point`.
bool IsStarved(const CurvePoint& point, const WatchedPod& pod);

// Marks `point`, from a window of the pod, if the pod waited for storage, because it may be faster
// with the data in memory.
void MarkStarved(const Measurement& measurement, const WatchedPod& pod, CurvePoint& point);

// Returns whether `seen` is a lower bound below what is already known. Drops lower bounds that
// `seen` shows to be too low.
bool IsUninformative(CurvePoints& points, const CurvePoint& seen);

}  // namespace synergy
