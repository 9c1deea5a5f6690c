#pragma once

// The throughput of a full cluster under each mechanism, against the most that its resources could
// give on one machine of their size.

#include <string>

#include "bench/rounds/results.h"
#include "sim/model_facts.h"

namespace synergy::bench {

void BenchObjective(const ModelFacts& facts, Results& results);

}  // namespace synergy::bench
