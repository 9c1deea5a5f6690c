#pragma once

// Measures each gang (cluster/gang.h) as a whole. Its pods wait for each other in every iteration,
// so all have the speed of the slowest pod.
//
//   * The iterations come from the log of one pod, the *head*. If the head's log has reported
//     nothing for minutes, another pod becomes the head.
//   * A sample contains the CPU time of all members, including those that report no progress.
//   * A gang counts once all its pods run and its GPU pods are alike: one workload, with equally
//     many GPUs of one product. It stops counting when the first pod leaves.
//
// Threading: pure.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/profiler/profiler_memory.h"
#include "engine/profiler/profiler_pass.h"

namespace synergy {

// Records that a pod of a gang is on that node. `key`: the pod's measurement; nullopt: none.
void SeeMember(ProfilerPass& pass, NodeIndex index, const std::shared_ptr<const Pod>& pod,
               const std::optional<MeasurementKey>& key);
// Records that the pod has left the node. Does nothing if the pod is not known there.
void LoseMember(ProfilerPass& pass, NodeIndex index, const std::string& uid);

// Processes a report about a member. Returns whether the member is the head and has reported its
// progress.
bool ObserveMember(const ProfilerSettings& settings, ProfilerMemory& memory, WatchedPod& pod,
                   const PodProgress& progress, Moment at);
// Returns the last reported CPU time of the other members; nullopt if any is unknown.
std::optional<std::vector<CpuUse>> CpuOfOthers(const ProfilerMemory& memory,
                                               const WatchedPod& head);

// Visits the pod and, if it is the head of a gang, then all other members.
template <class Visit>
void ForEachTogether(ProfilerMemory& memory, WatchedPod& head, const Visit& visit) {
  visit(head);
  for (const std::string& uid : head.others) visit(memory.pods.at(uid));
}
// Returns whether `predicate` is true for the pod or, if it is a head, for any other member.
template <class Predicate>
bool AnyTogether(const ProfilerMemory& memory, const WatchedPod& head, const Predicate& predicate) {
  if (predicate(head)) return true;
  return std::any_of(head.others.begin(), head.others.end(),
                     [&](const std::string& uid) { return predicate(memory.pods.at(uid)); });
}

// Drops the windows of the pod and of the pods that train with it. Call it when the pod may use
// another amount of CPU or memory.
void ForgetWindows(const ProfilerSettings& settings, ProfilerMemory& memory, WatchedPod& pod);

}  // namespace synergy
