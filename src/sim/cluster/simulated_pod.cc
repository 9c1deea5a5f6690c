#include "sim/cluster/simulated_pod.h"

#include <memory>

namespace synergy {
namespace {

ResourceVector Held(const ManagedContainer& fungible) {
  return LargerOf(LargerOf(fungible.requested, fungible.set_aside), fungible.in_force);
}

}  // namespace

SimulatedPod::SimulatedPod(const Pod& pod)
    : node(pod.node),
      resource_version(pod.resource_version),
      pod_(pod),
      besides_(pod.requests.main) {
  if (pod.waiting) waiting = *pod.waiting;
  if (!pod.fungible) return;
  fungible = *pod.fungible;
  besides_ -= Held(*fungible) + fungible->AnnouncedGrowth();
}

Pod SimulatedPod::AsCounted() const {
  Pod pod = pod_;
  pod.node = node;
  pod.resource_version = resource_version;
  pod.waiting = waits() ? std::make_shared<const Waiting>(waiting) : nullptr;
  if (!fungible) return pod;
  pod.requests.main = CountedByKubeScheduler() + fungible->AnnouncedGrowth();
  ResourceVector demand = fungible->demand + (pod.requests.main - fungible->requested);
  demand.gpus = pod.requests.main.gpus;
  pod.demand = LargerOf(demand, pod.requests.main);
  pod.fungible = std::make_shared<const ManagedContainer>(*fungible);
  return pod;
}

ResourceVector SimulatedPod::CountedByKubeScheduler() const {
  return fungible ? besides_ + Held(*fungible) : besides_;
}

ResourceVector SimulatedPod::AllocatedByKubelet() const {
  if (!fungible) return besides_;
  return besides_ + (fungible->reported ? fungible->set_aside : fungible->requested);
}

}  // namespace synergy
