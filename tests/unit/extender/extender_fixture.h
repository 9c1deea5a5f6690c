#pragma once

// Helpers for the extender's tests: nodes, pods and kube-scheduler's calls.

#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/state/cluster_state.h"
#include "core/log.h"
#include "extender/binding/allocations.h"
#include "extender/binding/binder.h"
#include "extender/scheduler_extender.h"
#include "metrics/extender_metrics.h"
#include "support/cluster_vocabulary.h"
#include "support/fake_clock.h"
#include "support/fake_pod_api.h"
#include "support/recorded_events.h"
#include "support/silent_log.h"
#include "wire/objects/objects.h"

namespace synergy::extender {

// The answer of the extender to a successful bind.
constexpr char kBound[] = R"({"Error":""})";

class ExtenderTest : public ::testing::Test {
 protected:
  // The watch does not lag.
  ExtenderTest() { synergy::testing::ObserveUntil(state, kObservedUntil); }

  static constexpr uint64_t kObservedUntil = 1000;
  static constexpr auto kAssumeTimeout = std::chrono::seconds(30);
  static constexpr auto kExpectTimeout = std::chrono::seconds(3);

  void AddNode(const std::string& name, int64_t gpus = 8, int64_t cores = 24,
               int64_t gigabytes = 500) {
    Node node;
    node.name = name;
    node.allocatable.main = {Gpus(gpus), Cores(cores), GB(gigabytes)};
    node.pods_allowed = 110;
    state.UpsertNode(std::move(node));
  }

  static Pod MakePod(const std::string& name, int64_t gpus, int64_t cores, int64_t gigabytes,
                     const std::string& node = {}) {
    Pod pod;
    pod.uid = "uid-" + name;
    pod.pod_namespace = "default";
    pod.name = name;
    pod.node = node;
    pod.requests.main = {Gpus(gpus), Cores(cores), GB(gigabytes)};
    return pod;
  }

  // Returns the pod in the JSON of the API server.
  static std::string PodJson(const Pod& pod) {
    return fmt::format(
        R"({{"metadata":{{"name":"{}","namespace":"{}","uid":"{}","resourceVersion":"7"}},"spec":{{"nodeName":"{}","containers":[)"
        R"({{"name":"train","resources":{{"requests":{{"nvidia.com/gpu":"{}","cpu":"{}m","memory":"{}"}}}}}}]}}}})",
        pod.name, pod.pod_namespace, pod.uid, pod.node, pod.requests.main.gpus.count(),
        pod.requests.main.cpu.count(), pod.requests.main.memory.count());
  }

  static std::string Args(const Pod& pod, const std::vector<std::string>& names) {
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "\"" : ",\"") + name + "\"";
    return fmt::format(R"({{"Pod":{},"Nodes":null,"NodeNames":[{}]}})", PodJson(pod), list);
  }

  static std::string BindArgs(const Pod& pod, const std::string& node) {
    return fmt::format(R"({{"PodName":"{}","PodNamespace":"{}","PodUID":"{}","Node":"{}"}})",
                       pod.name, pod.pod_namespace, pod.uid, node);
  }

  Gpus FreeGpus(const std::string& node) const {
    const auto snapshot = state.Snapshot();
    return snapshot->node(*snapshot->Find(node)).Free().gpus;
  }

  synergy::testing::FakeClock clock;
  synergy::testing::SilentSink sink;
  Logger log{sink, clock, LogLevel::kDebug, LogFormat::kText};
  wire::ObjectReader reader{"nvidia.com/gpu"};
  metrics::ExtenderMetrics metrics{"nvidia.com/gpu"};
  ClusterState state;
  synergy::testing::FakePodApi api;
  synergy::testing::RecordedEvents events;
  Allocations allocations{api, events, clock, log, metrics, ReserveRule{}};
  Binder binder{state,
                api,
                reader.gpu_resource(),
                allocations,
                clock,
                log,
                metrics,
                BinderTimes{.assume = kAssumeTimeout}};
  SchedulerExtender extender{
      state, binder, reader, {.slack = 0.1, .expect_timeout = kExpectTimeout}, clock, log, metrics};
};

}  // namespace synergy::extender
