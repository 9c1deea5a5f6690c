#include "core/units.h"

auto product = synergy::GiB(2) * synergy::GiB(3);  // must not compile
