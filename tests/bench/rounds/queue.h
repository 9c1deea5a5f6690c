#pragma once

// How long it takes to say who is to run in a large queue (queues/rounds.h).

#include "bench/rounds/results.h"

namespace synergy::bench {

void BenchQueue(Results& results);

}  // namespace synergy::bench
