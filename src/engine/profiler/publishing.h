#pragma once

// Publishes the profile of a workload, and continues from the published profile in a new leader
// (engine/profiler/profiler.h).
//
// Threading: pure.

#include <string_view>

#include "engine/profiler/profiler_memory.h"
#include "engine/profiler/profiler_pass.h"

namespace synergy {

// A measurement with this note publishes nothing and begins no probe.
inline constexpr std::string_view kUnsettledNote = "its speed changes too much to be measured";

// Returns whether the profile's last point is a guess: the workload may gain from more CPU than any
// pod has had.
bool HasGuessAbove(const MeasuredProfile& measured);

// Returns the measurement for `key`. A new measurement starts from the published profile, if there
// is one.
Measurement& Recalled(ProfilerPass& pass, const MeasurementKey& key);
// Records that the measurement was published as `measured`.
void Published(Measurement& measurement, const MeasuredProfile& measured);

// Sets the measurement's points to published ones: its own or those of a similar workload.
void TakePoints(Measurement& measurement, const MeasuredProfile& published);

// Publishes the measurement's profile if it differs from the published one.
void Publish(ProfilerPass& pass, const MeasurementKey& key, Measurement& measurement);

}  // namespace synergy
