#pragma once

// Gangs (cluster/gang.h), each measured as one: its pods wait for each other in every iteration, so
// there is one speed, which the slowest sets.
//
//   * The iterations are those that one pod's log tells, the *head's*. It is another's from then on
//     when the head's has told nothing for minutes.
//   * A sample has the CPU time of all members; a silent one's counts as well.
//   * A gang counts from when all its pods run, and its GPU pods are alike: of one workload, each
//     with as many GPUs of the same product. It ends with the first that goes.
//
// Threading: pure.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/profiler/profiler_memory.h"
#include "engine/profiler/profiler_turn.h"

namespace synergy {

// A pod of a gang is on that node; `key` is what it is to be measured as.
void SeeMember(ProfilerTurn& turn, NodeIndex index, const std::shared_ptr<const Pod>& pod,
               const std::optional<MeasurementKey>& key);
// It is there no more. Not known, or known on another node: nothing.
void LoseMember(ProfilerTurn& turn, NodeIndex index, const std::string& uid);

// What is told of a member. True: it is the head, and has told how far the training has come.
bool HearMember(const ProfilerSettings& settings, ProfilerMemory& memory, WatchedPod& pod,
                const PodProgress& progress, Moment at);
// The CPU time of the others, as it was told last; none: not known of all.
std::optional<std::vector<CpuUse>> CpuOfOthers(const ProfilerMemory& memory,
                                               const WatchedPod& head);

// The pod, or all of its gang whose head it is; the head is the first.
template <class Visit>
void ForEachTogether(ProfilerMemory& memory, WatchedPod& head, const Visit& visit) {
  visit(head);
  for (const std::string& uid : head.others) visit(memory.pods.at(uid));
}
// Whether any of them is so.
template <class Says>
bool AnyTogether(const ProfilerMemory& memory, const WatchedPod& head, const Says& says) {
  if (says(head)) return true;
  return std::any_of(head.others.begin(), head.others.end(),
                     [&](const std::string& uid) { return says(memory.pods.at(uid)); });
}

// The pod may use another amount of CPU or memory now: what was seen of it, and of those that train
// together with it, is over.
void ForgetWindows(const ProfilerSettings& settings, ProfilerMemory& memory, WatchedPod& pod);

}  // namespace synergy
