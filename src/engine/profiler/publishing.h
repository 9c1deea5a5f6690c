#pragma once

// What is published of a workload, and what a new leader takes over of it
// (engine/profiler/profiler.h).
//
// Threading: pure.

#include <string_view>

#include "engine/profiler/profiler_memory.h"
#include "engine/profiler/profiler_turn.h"

namespace synergy {

// Nothing is published and no probe begun while that is so.
inline constexpr std::string_view kUnsettledNote = "its speed changes too much to be measured";

// Its last point is a guess: it may gain from more than any pod was seen with.
bool HasGuessAbove(const MeasuredProfile& measured);

// The measurement of that key; begun with what was published, where there is none.
Measurement& Recalled(ProfilerTurn& turn, const MeasurementKey& key);
// It was published as `measured` now.
void Published(Measurement& measurement, const MeasuredProfile& measured);

// Publishes what is known where that is news.
void Publish(ProfilerTurn& turn, const MeasurementKey& key, Measurement& measurement);

}  // namespace synergy
