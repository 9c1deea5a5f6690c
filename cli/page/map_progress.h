#pragma once

// A pod's progress as it is sent to the page: as times of the clock, and in visible steps, so that
// a training that proceeds as predicted changes little of what is sent.
//
// Threading: pure.

#include <optional>

#include "cli/cluster/progress.h"
#include "core/clock.h"

namespace synergy::cli {

// Times are in seconds since 1970.
struct MapProgress {
  std::optional<ShownRate> rate;
  std::optional<double> done;    // 0 to 1, in hundredths
  std::optional<double> ends;    // predicted end; none if it has fallen silent
  std::optional<double> silent;  // last report, if that is more than two minutes ago
};

// `now`: when `known` was read.
MapProgress ProgressOnMap(const KnownProgress& known, WallTime now);

// Returns whether `progress` need not be sent after `told`: the rates, and the times left, differ
// by at most 2 %.
bool Alike(const MapProgress& told, const MapProgress& progress, WallTime now);

}  // namespace synergy::cli
