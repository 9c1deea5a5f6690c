#include "core/units.h"

int64_t number = synergy::Gpus(3);  // must not compile
