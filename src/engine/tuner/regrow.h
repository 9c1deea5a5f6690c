#pragma once

// The part of the tuner that divides nodes again: in every round, and whenever a change on a node
// has ended.
//
// Threading: pure.

#include "engine/tuner/tuner_pass.h"

namespace synergy {

// Divides the nodes that are due, and begins a round if one is due.
void DivideNodes(TunerPass& pass);

}  // namespace synergy
