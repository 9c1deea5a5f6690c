#pragma once

// Helpers for tests of the tuner's driver, decisions and actions together, on an in-memory cluster.

#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "cluster/annotations.h"
#include "controller/profiles/oom_watch.h"
#include "controller/tuner/action_executor.h"
#include "controller/tuner/tuner_calls.h"
#include "controller/tuner/tuner_driver.h"
#include "engine/tuner/tuner.h"
#include "support/cluster_vocabulary.h"
#include "support/fake_clock.h"
#include "support/fake_pod_api.h"
#include "support/managed_pods.h"
#include "support/recorded_events.h"
#include "support/silent_log.h"

namespace synergy::controller {

class TunerTest : public ::testing::Test {
 protected:
  TunerTest() {
    synergy::testing::ObserveUntil(state, 1000);  // the watch does not lag
    state.UpsertNode(N1());
    driver.StartOver();
    driver.Step();  // the first round finds nothing
  }

  static Node N1() { return synergy::testing::NodeOfFour("n1"); }

  // Adds a pod on the node or, if `node` is empty, a waiting pod that is Unschedulable.
  void AddPod(const std::string& name, const std::string& node, int64_t cores,
              const std::string& profile = "sensitive") {
    api.Put(synergy::testing::ManagedPod(name, node, cores, profile));
    names.insert(name);
    Report(name);
  }

  // Reports the pod's current state, as the watch does.
  void Report(const std::string& name) { state.UpsertPod(api.pod(name)); }
  void Change(const std::string& name, const std::function<void(ManagedContainer&)>& change) {
    api.ChangeManaged(name, change);
    Report(name);
  }
  void Leaves(const std::string& name) {
    state.RemovePod(api.pod(name).uid);
    api.Remove(name);
    names.erase(name);
  }
  void IsBound(const std::string& name, const std::string& node = "n1") {
    api.Change(name, [&node](Pod& pod) {
      pod.node = node;
      pod.waiting = nullptr;
    });
  }
  void ChangeWaiting(const std::string& name, const std::function<void(Waiting&)>& change) {
    api.Change(name, [&change](Pod& pod) {
      auto waiting = std::make_shared<Waiting>(*pod.waiting);
      change(*waiting);
      pod.waiting = std::move(waiting);
    });
    Report(name);
  }
  // Makes the pod appear as if kube-scheduler had tried it and said why it has no node.
  void SetMessage(const std::string& name, const std::string& message) {
    ChangeWaiting(name, [&message](Waiting& waiting) { waiting.message = message; });
  }
  // Carries out the specs, as the kubelet does, and reports it, as the watch does.
  void KubeletCatchesUp() {
    for (const std::string& name : names) {
      if (!api.pod(name).node.empty()) api.SettleOnNode(name);
      Report(name);
    }
  }
  void After(Duration duration) {
    clock.Advance(duration);
    driver.Step();
  }
  MilliCpu Cpu(const std::string& name) { return api.pod(name).fungible->requested.cpu; }
  bool HasPlace(const std::string& name) {
    return api.annotation(name, annotations::kKeptPlace).has_value();
  }
  std::string ChangeOf(const std::string& name) {
    return api.annotation(name, annotations::kChange).value_or("");
  }

  static ChangeRecord Changed(ChangeKind kind, const ResourceVector& from,
                              const ResourceVector& to) {
    return {kind, from, to, "", WallTime{}};
  }

  synergy::testing::FakeClock clock;
  synergy::testing::SilentSink sink;
  Logger log{sink, clock, LogLevel::kDebug, LogFormat::kText};
  metrics::TunerMetrics metrics;
  ClusterState state;
  synergy::testing::FakePodApi api;
  std::set<std::string> names;
  synergy::testing::RecordedEvents events;
  synergy::testing::FakeProfileCatalog profiles = synergy::testing::TwoProfiles();
  Tuner tuner{{}, profiles};
  bool may_act = true;
  TunerCalls actions{state, api, events, clock, log, metrics, [this] { return may_act; }};
  std::unique_ptr<ActionExecutor> executor =
      MakeSerialExecutor(actions, [this] { return may_act; }, clock);
  OomWatch oom{state, api, events,  [this] { return may_act; },
               clock, log, metrics, std::chrono::minutes(10)};
  TunerDriver driver{tuner, state, *executor, clock, metrics, {.oom = &oom}};
};

}  // namespace synergy::controller
