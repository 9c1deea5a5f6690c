#pragma once

// What mechanisms get out of a full cluster, against the most that its resources could give on one
// machine of their size.

#include <string>

#include "bench/rounds/results.h"
#include "sim/model_facts.h"

namespace synergy::bench {

void BenchObjective(const ModelFacts& facts, Results& results);

}  // namespace synergy::bench
