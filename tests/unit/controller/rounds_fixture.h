#pragma once

// The fixture of rounds in Kueue's queues: the ClusterQueue "train" of one GPU, ordered by the
// RoundPolicy "policy", and a FakeKueue that carries out the writes.

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "controller/cluster/profile_store.h"
#include "controller/queues/queue_controller.h"
#include "gavel/policies/policies.h"
#include "queues/empty_nodes.h"
#include "queues/types/gpu_type_planner.h"
#include "queues/types/gpu_type_speeds.h"
#include "support/cluster_vocabulary.h"
#include "support/fake_clock.h"
#include "support/recorded_events.h"
#include "support/silent_log.h"
#include "unit/controller/fake_kueue.h"

namespace synergy::controller {

class RoundsFixture : public ::testing::Test {
 protected:
  RoundsFixture() {
    // The first moment of a round.
    clock.SetWall(WallTime(std::chrono::hours(500'000)));
    objects.flavors.Upsert({.name = "gpus"});
    ClusterQueue queue;
    queue.name = "train";
    queue.quota = Gpus(1);
    queue.flavors = {"gpus"};
    queue.preemption = "LowerPriority";
    objects.cluster_queues.Upsert(queue);
    objects.local_queues.Upsert({.queue_namespace = "team", .name = "q", .cluster_queue = "train"});
    RoundPolicy policy;
    policy.uid = policy.name = "policy";
    policy.cluster_queues = {"train"};
    objects.policies.Upsert(policy);
    driver.StartOver();
  }

  void ChangeQueue(const std::function<void(ClusterQueue&)>& change) {
    ClusterQueue queue = *objects.cluster_queues.Find("train");
    change(queue);
    objects.cluster_queues.Upsert(queue);
  }
  void ChangePolicy(const std::function<void(RoundPolicy&)>& change) {
    RoundPolicy policy = *objects.policies.Find("policy");
    change(policy);
    objects.policies.Upsert(policy);
  }

  // Adds a node with one GPU for each product, and profiles of the workloads "steep" and "flat".
  // The speed of "steep" halves from each product to the next.
  void HaveThreeTypes() {
    for (const char* product : {"V100", "P100", "K80"}) {
      Node node = synergy::testing::MakeNode(product, {Gpus(1), Cores(4), GB(40)});
      node.gpu_kinds.products = {product};
      node.labels = {{"nvidia.com/gpu.product", product}};
      state.UpsertNode(node);
    }
    for (const auto& [workload, by_product] : std::map<std::string, std::vector<double>>{
             {"steep", {4, 2, 1}}, {"flat", {2, 1.9, 1.8}}}) {
      const std::vector<std::string> products = {"V100", "P100", "K80"};
      for (size_t type = 0; type < products.size(); ++type) {
        ProfileObject profile;
        profile.uid = profile.name = workload + products[type];
        profile.profile_namespace = "team";
        profile.workload = workload;
        profile.training.gpu_product = products[type];
        profile.profile = std::make_shared<const JobProfile>(
            *JobProfile::Create(Gpus(1), {{Cores(1), GB(1), by_product[type]}}));
        profiles.Upsert(profile);
      }
    }
  }

  Workload MakeWorkload(const std::string& name, int64_t priority = 0) {
    Workload workload;
    workload.uid = workload.name = name;
    workload.workload_namespace = "team";
    workload.owner = {"batch/v1", "Job", "job-" + name, "uid of " + name};
    workload.local_queue = "q";
    workload.resource_version = "1";
    workload.pods = 1;
    workload.gpus = Gpus(1);
    workload.priority = priority;
    workload.may_lose_turn = true;
    workload.created = clock.WallNow();
    return workload;
  }
  void Add(const Workload& workload) { objects.workloads.Upsert(workload); }
  Workload Now(const std::string& name) { return *objects.workloads.Find("team/" + name); }
  // Starts the job as Kueue and the kubelet would.
  void Start(const std::string& name) {
    SetQuota(name, true);
    kueue.Run(Now(name), "n1");
  }
  void End(const std::string& name) {
    SetQuota(name, false);
    kueue.Stop(Now(name));
  }

  // Makes a step; returns its writes.
  std::vector<std::string> Step() {
    kueue.written.clear();
    driver.Step({});
    return kueue.written;
  }
  std::vector<std::string> StepFor(Duration duration) {
    return EachSecond(duration, [this] { return Step(); });
  }
  // Calls `step` every second; returns all results.
  std::vector<std::string> EachSecond(Duration duration,
                                      const std::function<std::vector<std::string>()>& step) {
    std::vector<std::string> all;
    for (Duration passed{}; passed < duration; passed += std::chrono::seconds(1)) {
      clock.Advance(std::chrono::seconds(1));
      for (std::string& each : step()) all.push_back(std::move(each));
    }
    return all;
  }

  synergy::testing::FakeClock clock;
  synergy::testing::SilentLog log;
  ClusterState state;
  ProfileStore profiles{0.1};
  QueueStores objects;
  FakeKueue kueue{objects, state, clock};
  synergy::testing::RecordedEvents events;
  metrics::RoundMetrics metrics;
  std::map<std::string, PodProgress> progress;  // UID of the pod -> progress
  std::set<std::string> checkpointing;          // names of profiles
  GpuTypeSpeeds speeds{state, profiles, [](const NodeSelection&, Gpus gpus, const std::string&) {
                         return std::optional(ResourceVector{gpus, Cores(4), GB(40)});
                       }};
  GpuTypePlanner types{speeds, MakeGavelPolicy};
  QueuePlanner planner{[this](const std::string& uid) -> std::optional<PodProgress> {
                         const auto found = progress.find(uid);
                         if (found == progress.end()) return std::nullopt;
                         return found->second;
                       },
                       [this](const std::string& profile_namespace, const std::string& name) {
                         return checkpointing.contains(profile_namespace + "/" + name);
                       },
                       [this](const Workload& workload, Gpus quota) {
                         return PodsOnEmptyNodes(*state.Snapshot(), workload, quota);
                       },
                       types};
  bool leads = true;
  QueueController driver{
      objects, planner, kueue,  events, [this] { return leads; }, QueueController::kPatience,
      clock,   log.log, metrics};

 private:
  void SetQuota(const std::string& name, bool has_quota) {
    Workload workload = Now(name);
    workload.has_quota = has_quota;
    workload.quota_since = clock.WallNow();
    Add(workload);
  }
};

}  // namespace synergy::controller
