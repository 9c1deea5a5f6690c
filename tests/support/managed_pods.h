#pragma once

// Pods with one GPU that Synergy manages, some sensitive to CPU and some not, and their profiles,
// for tests of the tuner. On a node with 4 GPUs, 12 cores and 64 GiB the fair share is 3 cores.

#include <memory>
#include <string>
#include <utility>

#include "cluster/node_selection.h"
#include "support/cluster_vocabulary.h"
#include "support/fake_profile_catalog.h"

namespace synergy::testing {

inline ResourceVector OneGpu(int64_t cores, int64_t gibibytes = 4) {
  return {Gpus(1), Cores(cores), GiB(gibibytes)};
}

inline Node NodeOfFour(std::string name) {
  return MakeNode(std::move(name), {Gpus(4), Cores(12), GiB(64)});
}

// Returns the profiles "sensitive" and "insensitive".
inline FakeProfileCatalog TwoProfiles() {
  FakeProfileCatalog catalog;
  catalog.profiles["sensitive"] = std::make_shared<const JobProfile>(*JobProfile::Create(
      Gpus(1), {{Cores(1), GiB(4), 1}, {Cores(3), GiB(4), 3}, {Cores(9), GiB(4), 9}}));
  catalog.profiles["insensitive"] = std::make_shared<const JobProfile>(
      *JobProfile::Create(Gpus(1), {{Cores(1), GiB(4), 5}, {Cores(9), GiB(4), 5.1}}));
  return catalog;
}

// Returns a pod that runs on `node`, or that waits and is Unschedulable if `node` is empty.
inline Pod ManagedPod(const std::string& name, const std::string& node, int64_t cores,
                      const std::string& profile = "sensitive") {
  ManagedContainer fungible;
  fungible.container = "train";
  fungible.profile = profile;
  fungible.profile_generation = 1;
  fungible.requested = fungible.in_force = fungible.set_aside = OneGpu(cores);
  fungible.floor = OneGpu(profile == "insensitive" ? 1 : 3);
  fungible.fair_share = OneGpu(3, 16);
  fungible.demand = OneGpu(profile == "insensitive" ? 1 : 9);
  fungible.reported = !node.empty();
  fungible.devices = DeviceReading{DeviceSafety::kSafe, {}};
  Pod pod = MakePod(name, fungible.requested);
  pod.node = node;
  pod.fungible = std::make_shared<const ManagedContainer>(std::move(fungible));
  if (node.empty()) {
    Waiting waiting;
    waiting.scheduler = "synergy-scheduler";
    waiting.unschedulable = true;
    waiting.selection = std::make_shared<const NodeSelection>();
    pod.waiting = std::make_shared<const Waiting>(std::move(waiting));
  }
  return pod;
}

}  // namespace synergy::testing
