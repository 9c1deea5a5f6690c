#pragma once

// How far a pod is, as the page is told: by times of the clock, in steps that a reader sees, so
// that a training which goes on as it was foreseen to changes little of what is sent.
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
  std::optional<double> ends;    // if it goes on so; none where it has fallen silent
  std::optional<double> silent;  // it has said nothing since then, more than two minutes ago
};

// `now`: when `known` was read.
MapProgress ProgressOnMap(const KnownProgress& known, WallTime now);

// Nobody needs to be told the second after the first: rates, and what is left, are 2 % apart at
// most.
bool Alike(const MapProgress& told, const MapProgress& progress, WallTime now);

}  // namespace synergy::cli
