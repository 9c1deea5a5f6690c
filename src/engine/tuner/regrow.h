#pragma once

// The part of the tuner that divides nodes again: every round, and whenever a change there has
// ended.
//
// Threading: pure.

#include "engine/tuner/tuner_pass.h"

namespace synergy {

// Begins a round if one is due.
void DivideNodes(TunerPass& pass);

}  // namespace synergy
