#include "core/units.h"

synergy::Gpus gpus = 3;  // must not compile
