#pragma once

// The part of the tuner that makes room for pods that wait only for CPU or memory. Meanwhile it
// keeps a place for them, and makes kube-scheduler retry when kube-scheduler has not noticed room.
//
// Threading: pure.

#include <set>
#include <string>

#include "engine/tuner/tuner_pass.h"

namespace synergy {

// Returns whether kube-scheduler reports that the waiting pod lacks CPU or memory on any node, or
// reports no reason. Looks for the texts of kube-scheduler's own filter, which the extender also
// uses. The result is only a hint: texts may change, and they concern all nodes.
bool NamesShortage(const Pod& pod);

// Advances the kept places: cuts, reminders and ends.
void AdvancePlaces(TunerPass& pass);
// `done`: the place was written on the waiting pod.
void OnPlaceResult(TunerMemory& memory, const Pod& waiting, bool done);

// Makes room for pods that wait without a place.
void MakeRoom(TunerPass& pass);

// Returns those of `nodes` where a place is kept, or where a waiting pod could have one if all
// loans (loans.h) ended. The pod must be allowed there, nothing known may block it, and it must fit
// once surplus is cut, together with all other members if it is in a gang.
std::set<std::string> NodesToPlaceOn(TunerPass& pass, const std::set<std::string>& nodes);

}  // namespace synergy
