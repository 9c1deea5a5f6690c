#pragma once

// The time to decide which jobs of a large queue run (queues/rounds.h).

#include "bench/rounds/results.h"

namespace synergy::bench {

void BenchQueue(Results& results);

}  // namespace synergy::bench
