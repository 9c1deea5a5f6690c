#pragma once

// The part of the profiler that finds out what memory does for a workload
// (profile/measured/memory_study.h).
//
// Threading: as ProfilerPass.

#include "engine/profiler/profiler_memory.h"

namespace synergy {

// Records what the pods of the measurement have shown so far. Once the memory is known, points of
// pods that waited for storage count for the CPU that an iteration takes, and the storage limit
// covers the rest.
void LearnMemory(const ProfilerMemory& memory, Measurement& measurement);

// Whether storage, not the CPU, kept back a pod at `point`.
bool IsStarved(const CurvePoint& point, const WatchedPod& pod);

// Marks `point`, from a window of the pod, if the pod waited for storage: with the data in memory
// it may be faster.
void MarkStarved(const Measurement& measurement, const WatchedPod& pod, CurvePoint& point);

// Whether `seen` is a lower bound below what is known already. Drops lower bounds that it shows to
// be too low.
bool IsUninformative(CurvePoints& points, const CurvePoint& seen);

}  // namespace synergy
