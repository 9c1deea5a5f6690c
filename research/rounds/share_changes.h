#pragma once

// Turns the changes of a round into changes of pods, so that runs in rounds can be shown like runs
// by events.
//
// This file is separate because only the display of a run needs it; the simulation does not.
//
// Threading: pure.

#include <span>
#include <vector>

#include "policy/job.h"
#include "research/baseline/round.h"
#include "sim/simulation_run.h"

namespace synergy {

// Appends the changes of shares that follow from `actions`, which lead from the jobs' present
// shares to those of `plan`: first releases, then new and kept places.
void AppendShareChanges(std::span<const Job> jobs, const Plan& plan,
                        std::span<const Action> actions, Seconds at,
                        std::vector<PlaceChange>& changes);

// Appends the release of everything that the job holds.
void AppendEnd(const Job& job, Seconds at, std::vector<PlaceChange>& changes);

}  // namespace synergy
