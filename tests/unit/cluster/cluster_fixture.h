#pragma once

// Helpers for the ClusterState tests: nodes like the V100 servers, pods by name, and short queries.

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cluster/state/cluster_state.h"
#include "support/cluster_vocabulary.h"

namespace synergy::testing {

class ClusterStateFixture : public ::testing::Test {
 protected:
  static constexpr ResourceVector kServer{Gpus(8), Cores(24), GiB(500)};

  static Instant At(int second) { return Instant(std::chrono::seconds(second)); }

  void HaveNode(const std::string& name) { state.UpsertNode(MakeNode(name, kServer)); }

  void Expect(const Pod& pod, const std::string& node, Instant deadline = At(3)) {
    state.Expect(pod, PlaceOf(*state.Snapshot(), node), deadline);
  }
  bool Assume(const Pod& pod, const std::string& node, Instant deadline = At(30)) {
    return state.Assume(pod, node, deadline).assumed;
  }

  Gpus GpusTakenOn(const std::string& node) const {
    const auto snapshot = state.Snapshot();
    const auto place = snapshot->Find(node);
    return place ? snapshot->node(*place).requested.gpus : Gpus(0);
  }
  std::vector<std::string> PodsOn(const std::string& node) const {
    std::vector<std::string> names;
    const auto snapshot = state.Snapshot();
    if (const auto place = snapshot->Find(node)) {
      for (const auto& pod : snapshot->node(*place).detail->pods) names.push_back(pod->name);
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  bool HasPod(const std::string& pod) const { return state.FindPod(pod) != nullptr; }
  bool Exists(const std::string& node) const {
    const auto snapshot = state.Snapshot();
    const auto place = snapshot->Find(node);
    return place && snapshot->node(*place).exists;
  }
  std::string PlacedOn(const std::string& pod) const {
    const auto placement = state.FindPlacement(pod);
    return placement ? state.Snapshot()->node(placement->node).detail->name : "nowhere";
  }
  std::vector<std::string> ExpiredAt(int second) const {
    std::vector<std::string> names;
    for (const AssumedPod& assumed : state.Expired(At(second))) names.push_back(assumed.pod->name);
    return names;
  }

  ClusterState state;
};

}  // namespace synergy::testing
