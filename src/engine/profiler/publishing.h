#pragma once

// Publishes the profile of a workload, and recalls it in a new leader (engine/profiler/profiler.h).
//
// Threading: pure.

#include <string_view>

#include "engine/profiler/profiler_memory.h"
#include "engine/profiler/profiler_pass.h"

namespace synergy {

// Nothing is published and no probe begins with this note.
inline constexpr std::string_view kUnsettledNote = "its speed changes too much to be measured";

// Whether its last point is a guess: it may gain from more than any pod was seen with.
bool HasGuessAbove(const MeasuredProfile& measured);

// Returns the measurement for `key`. A new one starts from what was published.
Measurement& Recalled(ProfilerPass& pass, const MeasurementKey& key);
// Records that it has been published as `measured`.
void Published(Measurement& measurement, const MeasuredProfile& measured);

// Continues from points that were published, its own or those of a similar workload.
void TakePoints(Measurement& measurement, const MeasuredProfile& published);

// Publishes what is known if it is news.
void Publish(ProfilerPass& pass, const MeasurementKey& key, Measurement& measurement);

}  // namespace synergy
