#pragma once

// What live profiling's parts are tested with: a node of A100s, pods of one workload on it, and
// TrainingProfiles that are all memory.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "controller/cluster/cluster_view.h"
#include "kube/apis/events.h"
#include "kube/apis/profile_api.h"
#include "support/fake_clock.h"
#include "support/fake_pod_api.h"
#include "support/managed_pods.h"
#include "support/silent_log.h"

namespace synergy::controller {

struct NotedEvents final : kube::EventRecorder {
  void Record(kube::EventRecord event) override {
    noted.push_back(event.reason + " " + event.pod_name + ": " + event.message);
  }
  uint64_t dropped() const override { return 0; }

  std::vector<std::string> noted;
};

// Takes what is measured into a store, as the watch would.
class MeasuringApi final : public kube::ProfileApi {
 public:
  explicit MeasuringApi(ProfileStore& store) : store_(store) {}

  std::vector<std::string> calls;
  std::optional<Error> failure;  // of all calls
  std::optional<Error> write_failure;

  Result<> WriteStatus(const ProfileObject&, const ProfileStatus&, std::stop_token) override {
    return Fail(ErrorCode::kInvalid, "not its business");
  }
  Result<ProfileObject> Create(const std::string& profile_namespace,
                               const MeasuredProfile& measured, std::stop_token) override {
    ProfileObject object;
    object.uid = "u";
    object.profile_namespace = profile_namespace;
    object.name = MeasuredName(measured);
    object.workload = measured.workload;
    object.kept_by_us = true;
    calls.push_back("create " + object.Key());
    if (failure) return Fail(*failure);
    store_.Upsert(object);
    return object;
  }
  Result<> WriteMeasured(const ProfileObject& object, const MeasuredProfile& measured,
                         std::stop_token) override {
    calls.push_back("write " + object.Key());
    if (failure) return Fail(*failure);
    if (write_failure) return Fail(*std::exchange(write_failure, std::nullopt));
    ProfileObject written = object;
    written.measured = measured;
    written.training.gpu_product = measured.gpu_product;
    written.profile = std::make_shared<const JobProfile>(*MakeJobProfile(measured));
    store_.Upsert(std::move(written));
    return {};
  }
  Result<> Delete(const ProfileObject& object, std::stop_token) override {
    calls.push_back("delete " + object.Key());
    if (failure) return Fail(*failure);
    store_.Remove(object);
    return {};
  }

 private:
  ProfileStore& store_;
};

class ProfilingFixture : public ::testing::Test {
 protected:
  ProfilingFixture() { HaveNode("n1", "A100"); }

  void HaveNode(const std::string& name, const std::string& product) {
    Node node = synergy::testing::NodeOfFour(name);
    node.gpu_kinds.products = {product};
    state.UpsertNode(node);
  }
  // A pod of the workload "bert" that runs with its fair share of 3 cores, without a profile.
  void HaveRunning(const std::string& name, const std::string& node = "n1") {
    pods.Put(synergy::testing::ManagedPod(name, node, 3, ""));
    pods.ChangeFungible(name, [](Fungible& fungible) {
      fungible.workload = "bert";
      fungible.profile_generation = 0;
      fungible.demand = fungible.floor = fungible.requested;
    });
    See(name);
  }
  void See(const std::string& name) { state.UpsertPod(pods.pod(name)); }

  // At its best with 1 core.
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
  NamespaceStore namespaces;
  FairShareCache shares{state, clock};
  ClusterView view{state, profiles, namespaces, shares, [] { return true; }};
  synergy::testing::FakePodApi pods;
  MeasuringApi api{profiles};
  NotedEvents events;
  bool may_act = true;
};

}  // namespace synergy::controller
