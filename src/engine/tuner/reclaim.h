#pragma once

// The part of the tuner that makes room for pods that wait only for CPU or memory. Meanwhile it
// keeps a place for each of them. It also makes kube-scheduler retry a pod if kube-scheduler has
// not noticed room for it.
//
// It also makes room ahead, for jobs with a GPU reservation. They still wait for GPUs, so no place
// can be kept for them. Shortly before the likely start, the tuner cuts surplus of the pods that
// stay on the reserved nodes. It stops when the floor of the reserved job will fit as soon as the
// jobs that it waits for have ended. It then does not divide these nodes until the job has started
// or the reservation has ended or moved.
//
// Threading: pure.

#include <chrono>
#include <set>
#include <string>

#include "core/clock.h"
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

// Makes room for pods that wait without a place, and in the places that moves and gang preemption
// keep.
void MakeRoom(TunerPass& pass);

// Nodes are prepared at least this long before the likely start of their reservation, and longer if
// two changes of CPU and two of memory may take longer.
inline constexpr Duration kLeastAhead = std::chrono::minutes(5);
// A node is not prepared for longer than this, even if the start is put off again and again.
inline constexpr Duration kLongestPrepared = std::chrono::minutes(30);

// Decides which nodes are prepared for reservations.
void PrepareNodes(TunerPass& pass);
// Returns when PrepareNodes() has something to do, given the last reported reservations.
Instant PreparationDue(const TunerMemory& memory, const TunerSettings& settings);
// Cuts surplus on prepared nodes that lack room.
void MakeRoomAhead(TunerPass& pass);

// Returns those of `nodes` that are prepared, have a kept place, or could have a place for a
// waiting pod if all loans (loans.h) ended. The pod must be allowed there, nothing known may block
// it, and it must fit once surplus is cut. A gang's pod must fit together with all other members.
std::set<std::string> NodesToPlaceOn(TunerPass& pass, const std::set<std::string>& nodes);

}  // namespace synergy
