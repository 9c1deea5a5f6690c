#pragma once

// Helpers for the tests of live profiling: a node of A100s, pods of one workload on it, and
// in-memory TrainingProfiles.

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "controller/cluster/cluster_view.h"
#include "support/fake_clock.h"
#include "support/fake_pod_api.h"
#include "support/managed_pods.h"
#include "support/recorded_events.h"
#include "support/silent_log.h"
#include "unit/controller/fake_profile_api.h"

namespace synergy::controller {

class ProfilingFixture : public ::testing::Test {
 protected:
  ProfilingFixture() { HaveNode("n1", "A100"); }

  void HaveNode(const std::string& name, const std::string& product) {
    Node node = synergy::testing::NodeOfFour(name);
    node.gpu_kinds.products = {product};
    state.UpsertNode(node);
  }
  // Adds a running pod of the workload "bert" with its fair share of 3 cores, without a profile.
  void HaveRunning(const std::string& name, const std::string& node = "n1") {
    pods.Put(synergy::testing::ManagedPod(name, node, 3, ""));
    pods.ChangeManaged(name, [](ManagedContainer& fungible) {
      fungible.workload = "bert";
      fungible.profile_generation = 0;
      fungible.demand = fungible.floor = fungible.requested;
    });
    See(name);
  }
  void See(const std::string& name) { state.UpsertPod(pods.pod(name)); }

  // Returns a profile that is fastest with 1 core.
  MeasuredProfile MeasuredBert(int64_t revision = 1, const std::string& product = "A100") const {
    MeasuredProfile measured;
    measured.workload = "bert";
    measured.gpu_product = product;
    measured.revision = revision;
    measured.at = clock.WallNow();
    measured.points = {{MilliCpu(500), 1}, {Cores(1), 2}, {Cores(3), 2}};
    return measured;
  }
  void HaveMeasured(const MeasuredProfile& measured) {
    ASSERT_TRUE(api.WriteMeasured(*api.Create("team", measured, {}), measured, {}));
    api.calls.clear();
  }
  const std::string name_ = MeasuredName("bert", Gpus(1), "A100");

  synergy::testing::FakeClock clock;
  synergy::testing::SilentSink sink;
  Logger log{sink, clock, LogLevel::kDebug, LogFormat::kText};
  ClusterState state;
  ProfileStore profiles{0};
  KeyedStore<Namespace> namespaces;
  FairShareCache shares{state, clock};
  ClusterView view{state, profiles, namespaces, shares, [] { return true; }};
  synergy::testing::FakePodApi pods;
  FakeProfileApi api{profiles};
  synergy::testing::RecordedEvents events;
  bool may_act = true;
};

}  // namespace synergy::controller
