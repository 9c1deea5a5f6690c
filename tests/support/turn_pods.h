#pragma once

// Pods that take turns on GPUs, with their node agents' reports, for tests of the planner
// (engine/sharing/turn_planner.h).

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cluster/pod.h"
#include "engine/sharing/turn_planner.h"

namespace synergy::testing {

// Returns a pod on `node` that trains, according to the node agent's report, on `gpu`.
inline TurnPod TurnPodOn(const std::string& node, const std::string& gpu, const std::string& name) {
  Pod pod;
  pod.uid = pod.name = name;
  pod.pod_namespace = "team";
  pod.node = node;
  pod.fungible = std::make_shared<const ManagedContainer>();
  KnownProgress known{.node = node};
  known.pod = {.uid = name, .pod_namespace = "team", .name = name, .format = "tqdm"};
  known.pod.iterations = 1000;
  known.pod.turn = TurnReading{.gpus = {gpu}};
  return {std::make_shared<const Pod>(std::move(pod)), std::move(known)};
}

// Returns such a pod that is a member of a gang of `size` pods.
inline TurnPod MemberOn(const std::string& node, const std::string& gpu, const std::string& name,
                        const std::string& gang, int32_t size) {
  TurnPod member = TurnPodOn(node, gpu, name);
  Pod pod = *member.pod;
  pod.gang = std::make_shared<const Gang>(Gang{.name = "team/" + gang, .size = size});
  member.pod = std::make_shared<const Pod>(std::move(pod));
  return member;
}

// Writes the plan's turns on the pods, as the controller does.
inline void WriteTurns(const TurnPlan& plan, std::map<std::string, std::vector<TurnPod>>& pods) {
  for (const TurnChange& change : plan.changes) {
    for (TurnPod& pod : pods.at(change.pod->node)) {
      if (pod.pod->uid != change.pod->uid) continue;
      ManagedContainer fungible = *pod.pod->fungible;
      fungible.turn = change.turn;
      Pod changed = *pod.pod;
      changed.fungible = std::make_shared<const ManagedContainer>(std::move(fungible));
      pod.pod = std::make_shared<const Pod>(std::move(changed));
    }
  }
}

}  // namespace synergy::testing
