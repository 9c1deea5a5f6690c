#pragma once

// The part of the profiler that learns what memory does for a workload
// (profile/measured/memory_study.h).
//
// Threading: as ProfilerTurn.

#include "engine/profiler/profiler_memory.h"

namespace synergy {

// What the pods of the measurement have shown by now. Once the memory is known, points of pods that
// waited for storage say what CPU an iteration takes, and the storage's limit says the rest.
void LearnMemory(const ProfilerMemory& memory, Measurement& measurement);

// Whether storage, not the CPU, kept back a pod that was seen to do `point`.
bool IsStarved(const CurvePoint& point, const WatchedPod& pod);

// `point`, of a window of the pod, where it waited for storage: with the data in memory it may be
// faster.
void MarkStarved(const Measurement& measurement, const WatchedPod& pod, CurvePoint& point);

// Whether the point that was seen is a lower bound of what is known anyway. Lower bounds that it
// shows to be too low are dropped.
bool SaysNothing(CurvePoints& points, const CurvePoint& seen);

}  // namespace synergy
