#pragma once

// Helpers for the allocation tests: a cluster described step by step, and the paper's server.

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "cluster/state/cluster_state.h"
#include "support/cluster_vocabulary.h"

namespace synergy::testing {

// Synergy's servers (OSDI'22, section 5.1): 8 V100 GPUs, 24 CPU cores, 500 GB of memory.
inline constexpr ResourceVector kServer{Gpus(8), Cores(24), GiB(500)};

class AllocationFixture : public ::testing::Test {
 protected:
  void HaveNode(const std::string& name, const ResourceVector& allocatable = kServer) {
    state.UpsertNode(MakeNode(name, allocatable));
  }
  // Adds a running pod to the node that takes this share of it.
  void Taken(const std::string& node, const ResourceVector& share) {
    state.UpsertPod(OnNode(MakePod("taken " + std::to_string(++taken_), share), node));
  }
  // Adds a running pod that Synergy manages.
  void TakenByOurs(const std::string& node, const ResourceVector& share) {
    Pod pod = OnNode(MakePod("ours " + std::to_string(++taken_), share), node);
    pod.fungible = std::make_shared<const ManagedContainer>();
    state.UpsertPod(pod);
  }
  const NodeState& NodeNamed(const std::string& name) {
    snapshot = state.Snapshot();
    return NodeOf(*snapshot, name);
  }

  ClusterState state;
  std::shared_ptr<const ClusterSnapshot> snapshot;

 private:
  int taken_ = 0;
};

}  // namespace synergy::testing
