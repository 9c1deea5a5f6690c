#pragma once

// What a round changes, as changes of pods: so that runs in rounds are shown as runs by events are.
//
// Threading: pure.

#include <span>
#include <vector>

#include "policy/job.h"
#include "research/baseline/round.h"
#include "sim/simulation_run.h"

namespace synergy {

// Appends what `actions`, which lead from what the jobs hold to what `plan` gives them, make of
// their shares: first who gives up a place, then who takes or keeps one.
void AppendShareChanges(std::span<const Job> jobs, const Plan& plan,
                        std::span<const Action> actions, Seconds at,
                        std::vector<PlaceChange>& changes);

// The job leaves what it holds.
void AppendEnd(const Job& job, Seconds at, std::vector<PlaceChange>& changes);

}  // namespace synergy
