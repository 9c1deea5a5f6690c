#pragma once

// Measures the throughput of mechanisms in a full cluster, relative to that of one machine of the
// same size.

#include <string>

#include "bench/rounds/results.h"
#include "sim/model_facts.h"

namespace synergy::bench {

void BenchObjective(const ModelFacts& facts, Results& results);

}  // namespace synergy::bench
