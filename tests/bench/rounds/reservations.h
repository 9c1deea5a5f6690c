#pragma once

// Measures a plan of GPU reservations for a large cluster (engine/reservations).

#include "bench/rounds/results.h"

namespace synergy::bench {

void BenchReservations(Results& results);

}  // namespace synergy::bench
