#include "bench/tuner/cluster.h"

#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "cluster/node_selection.h"
#include "core/random.h"
#include "support/cluster_vocabulary.h"
#include "support/reference_profiles.h"

namespace synergy::bench {
namespace {

// The paper's server.
const ResourceVector kNode{Gpus(8), Cores(24), GB(500)};
const ResourceVector kFair{Gpus(1), Cores(3), Bytes(GB(500).count() / 8)};

const std::map<std::string, JobProfile>& Models() {
  static const std::map<std::string, JobProfile> models = testing::ReferenceProfiles();
  return models;
}

Pod MakePodOf(const std::string& model, std::string name, const std::string& node,
              const ResourceVector& amounts) {
  ManagedContainer fungible;
  fungible.container = "train";
  fungible.profile = model;
  fungible.profile_generation = 1;
  fungible.demand = Models().at(model).Demand(0);
  fungible.demand.gpus = Gpus(1);
  fungible.fair_share = kFair;
  fungible.floor = LesserOf(fungible.demand, kFair);
  fungible.requested = fungible.in_force = fungible.set_aside = amounts;
  fungible.reported = !node.empty();
  if (!node.empty()) fungible.devices = DeviceReading{DeviceSafety::kSafe, {}};
  Pod pod = testing::MakePod(std::move(name), amounts);
  pod.node = node;
  pod.fungible = std::make_shared<const ManagedContainer>(std::move(fungible));
  return pod;
}

// Without a profile, the pod keeps its amounts until another one waits.
Pod WithoutProfile(Pod pod) {
  auto fungible = std::make_shared<ManagedContainer>(*pod.fungible);
  fungible->profile.clear();
  fungible->floor.cpu = Cores(2);
  pod.fungible = std::move(fungible);
  return pod;
}

}  // namespace

HeldProfiles::ByName MakeProfiles() {
  HeldProfiles::ByName profiles;
  for (const auto& [name, profile] : Models()) {
    profiles[{"team", name}] = {std::make_shared<const JobProfile>(profile), 1};
  }
  return profiles;
}

BenchCluster::BenchCluster(ClusterState& state, ClusterSize size) : state_(state), size_(size) {
  Random random(7);
  std::vector<std::string> models;
  for (const auto& [name, profile] : Models()) models.push_back(name);
  std::vector<Node> nodes;
  std::vector<Pod> pods;
  for (size_t n = 0; n < size.nodes; ++n) {
    const std::string node = fmt::format("node-{:05}", n);
    nodes.push_back(testing::MakeNode(node, kNode));
    const bool gap = n < size.with_a_gap;
    ResourceVector given = kFair;
    // All of the node's CPU is allocated.
    if (gap) given.cpu = MilliCpu(kNode.cpu.count() / static_cast<int64_t>(size.pods_per_node - 1));
    for (size_t p = gap ? 1 : 0; p < size.pods_per_node; ++p) {
      const std::string& model = models.at(random.Below(models.size()));
      Pod pod = MakePodOf(model, fmt::format("pod-{:05}-{}", n, p), node, given);
      if (gap) pod = WithoutProfile(std::move(pod));
      api_.Put(std::move(pod));
      pods.push_back(api_.pod(fmt::format("pod-{:05}-{}", n, p)));
    }
  }
  state_.ReplaceNodes(std::move(nodes));
  state_.ReplacePods(std::move(pods));
  api_.before_call = [this](std::string_view) {
    Duration latency;
    {
      const std::lock_guard lock(mutex_);
      latency = latency_;
    }
    if (latency > Duration::zero()) SystemClock().SleepFor(latency, {});
    return Result<>();
  };
  api_.after_change = [this](const Pod& pod) {
    state_.RefreshPod(pod);
    const bool to_do = !pod.node.empty() && pod.fungible && !pod.fungible->Settled();
    const std::lock_guard lock(mutex_);
    if (to_do) due_.push_back({pod.name, SystemClock().Now() + kubelet_delay_});
    changed_.notify_all();
    return Result<>();
  };
}

Pod BenchCluster::MakeWaitingPod(size_t number) const {
  Pod pod = MakePodOf(Models().begin()->first, fmt::format("waiting-{}", number), "",
                      {Gpus(1), Cores(1), GiB(4)});
  Waiting waiting{.scheduler = "synergy-scheduler", .unschedulable = true};
  waiting.selection = std::make_shared<const NodeSelection>();
  pod.waiting = std::make_shared<const Waiting>(std::move(waiting));
  return pod;
}

void BenchCluster::Arrive(const Pod& pod) {
  api_.Put(pod);
  state_.UpsertPod(api_.pod(pod.name));
  on_change_();
}

void BenchCluster::Leave(const std::string& name) {
  state_.RemovePod(api_.pod(name).uid);
  api_.Remove(name);
  on_change_();
}

void BenchCluster::SetLatency(Duration latency) {
  const std::lock_guard lock(mutex_);
  latency_ = latency;
}

void BenchCluster::StartKubelets(Duration delay, std::function<void()> on_change) {
  kubelet_delay_ = delay;
  on_change_ = std::move(on_change);
  kubelets_ = std::jthread([this](const std::stop_token& stop) { RunKubelets(stop); });
}

void BenchCluster::StopKubelets() {
  kubelets_ = {};
  on_change_ = [] {};
}

bool BenchCluster::Settle() {
  std::deque<Due> due;
  {
    const std::lock_guard lock(mutex_);
    due.swap(due_);
  }
  for (const Due& each : due) {
    api_.SettleOnNode(each.name);
    state_.UpsertPod(api_.pod(each.name));
  }
  return !due.empty();
}

void BenchCluster::RunKubelets(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    Due next;
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [this] { return !due_.empty(); })) return;
      next = due_.front();
      due_.pop_front();
    }
    if (!SystemClock().SleepUntil(next.at, stop)) return;
    api_.SettleOnNode(next.name);
    state_.UpsertPod(api_.pod(next.name));
    on_change_();
  }
}

}  // namespace synergy::bench
