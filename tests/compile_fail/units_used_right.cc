#include "core/clock.h"
#include "core/units.h"

using synergy::Cores, synergy::GiB, synergy::Gpus, synergy::MilliCpu;

auto sum = Cores(3) + MilliCpu(1);
bool less = GiB(1) < GiB(2);
Gpus gpus = Gpus(3) * 2;
int64_t number = gpus.count();
auto Age(synergy::Instant now, synergy::Instant then) { return now - then; }
