#pragma once

// The tuner's part that makes room for pods that wait for CPU or memory alone, keeps a place for
// them meanwhile, and makes kube-scheduler look at room that it has not noticed.
//
// Threading: pure.

#include "engine/tuner/turn.h"

namespace synergy {

// Whether kube-scheduler says that the waiting pod lacks CPU or memory on any node, in the words of
// its own filter, which are the extender's too; or says nothing. A hint: words may change, and they
// are about all nodes.
bool NamesShortage(const Pod& pod);

// Looks after the places that are kept: cuts, reminders, ends.
void AdvancePlaces(Turn& turn);
void LearnOfPlace(TunerMemory& memory, const TunerAction& action, bool done);

// For pods that wait without a place.
void MakeRoom(Turn& turn);

}  // namespace synergy
