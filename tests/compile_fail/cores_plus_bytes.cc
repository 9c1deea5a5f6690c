#include "core/units.h"

auto sum = synergy::Cores(3) + synergy::GiB(1);  // must not compile
