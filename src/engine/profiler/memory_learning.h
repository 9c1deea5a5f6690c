#pragma once

// Learns how memory affects a workload's speed (profile/measured/memory_study.h). Part of the
// profiler.
//
// Threading: one owner, as ProfilerPass.

#include "engine/profiler/profiler_memory.h"
#include "engine/profiler/profiler_pass.h"

namespace synergy {

// Updates the measurement's memory from the studies of its pods. Once the memory is known, points
// of pods that waited for storage only show the CPU cost of an iteration. The profile's storage
// limit then explains their speed.
void LearnMemory(const ProfilerMemory& memory, Measurement& measurement);

// Ends a raise of the process memory (profile/measured/memory_raise.h) once a pod shows that the
// larger amount suffices. The pod must have that amount, be watched for as long as the killed pod
// ran, and have reached its peak.
void EndRaise(const ProfilerPass& pass, const MeasurementKey& key, Measurement& measurement);

// Returns whether storage, not CPU, limited the pod at `point`.
bool IsStarved(const CurvePoint& point, const WatchedPod& pod);

// Marks `point`, from a window of the pod, if the pod waited for storage, because it may be faster
// with the data in memory.
void MarkStarved(const Measurement& measurement, const WatchedPod& pod, CurvePoint& point);

// Returns whether `seen` is a lower bound below the known points. Removes from `points` the lower
// bounds that `seen` shows to be too low.
bool IsUninformative(CurvePoints& points, const CurvePoint& seen);

}  // namespace synergy
