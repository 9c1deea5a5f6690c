#pragma once

// The tuner's part that divides nodes again: every round, and whenever something there has ended.
//
// Threading: pure.

#include "engine/tuner/turn.h"

namespace synergy {

// Begins a round where one is due.
void DivideNodes(Turn& turn);

}  // namespace synergy
