#pragma once

// What a round changes, as changes of pods: so that runs in rounds are shown as runs by events are.
//
// Threading: pure.

#include <span>
#include <string>
#include <vector>

#include "baseline/round.h"
#include "policy/job.h"
#include "sim/simulator.h"

namespace synergy {

// node-0001 is the first.
std::string ServerName(size_t server);

// Appends what `actions`, which lead from what the jobs hold to what `plan` gives them, make of
// their shares: first who gives up a place, then who takes or keeps one.
void AppendShareChanges(std::span<const Job> jobs, const Plan& plan,
                        std::span<const Action> actions, Seconds at,
                        std::vector<PlaceChange>& changes);

// The job leaves what it holds.
void AppendEnd(const Job& job, Seconds at, std::vector<PlaceChange>& changes);

}  // namespace synergy
