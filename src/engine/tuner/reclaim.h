#pragma once

// The part of the tuner that makes room for pods that wait only for CPU or memory. It keeps a place
// for them meanwhile, and makes kube-scheduler retry when it has not noticed room.
//
// Threading: pure.

#include <set>
#include <string>

#include "engine/tuner/tuner_pass.h"

namespace synergy {

// Whether kube-scheduler reports that the waiting pod lacks CPU or memory on any node, or reports
// no reason. Looks for the texts of its own filter, which the extender uses too. Only a hint: texts
// may change, and they are about all nodes.
bool NamesShortage(const Pod& pod);

// Advances the kept places: cuts, reminders, ends.
void AdvancePlaces(TunerPass& pass);
// `done`: the place of the pod was written on it.
void OnPlaceResult(TunerMemory& memory, const Pod& waiting, bool done);

// Makes room for pods that wait without a place.
void MakeRoom(TunerPass& pass);

// Returns those of `nodes` where a place is kept, or where a pod that waits could have one if all
// loans (loans.h) ended: it may go there, nothing is known to keep it away, and it fits, if it is
// of a gang with all other members, once surplus is cut.
std::set<std::string> NodesToPlaceOn(TunerPass& pass, const std::set<std::string>& nodes);

}  // namespace synergy
