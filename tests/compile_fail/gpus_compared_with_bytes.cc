#include "core/units.h"

bool less = synergy::Gpus(1) < synergy::Bytes(1);  // must not compile
