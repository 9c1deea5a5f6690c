#pragma once

// Helpers for the engine's tests: nodes of 4 GPUs, 12 cores and 64 GiB, where the fair share is 3
// cores, and pods with one GPU, some sensitive to CPU and some not.

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "cluster/state/cluster_state.h"
#include "engine/tuner/tuner.h"
#include "support/managed_pods.h"

namespace synergy::testing {

class EngineTest : public ::testing::Test {
 protected:
  EngineTest() { HaveNode("n1"); }

  void HaveNode(const std::string& name) { state.UpsertNode(NodeOfFour(name)); }

  static Pod With(Pod pod, const std::function<void(ManagedContainer&)>& change) {
    auto fungible = std::make_shared<ManagedContainer>(*pod.fungible);
    change(*fungible);
    pod.fungible = std::move(fungible);
    return pod;
  }

  FakeProfileCatalog profiles = TwoProfiles();
  ClusterState state;
  // Not zero, so that a missing initialization shows.
  Moment at{Instant{} + std::chrono::hours(1), WallTime{} + std::chrono::hours(9)};
};

}  // namespace synergy::testing
