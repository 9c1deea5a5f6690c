#pragma once

// Measures a decision about a large queue (queues/rounds.h).

#include "bench/rounds/results.h"

namespace synergy::bench {

void BenchQueue(Results& results);

}  // namespace synergy::bench
