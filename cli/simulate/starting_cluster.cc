#include "cli/simulate/starting_cluster.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "allocation/fair_share.h"
#include "cluster/state/cluster_state.h"
#include "kube/apis/profile_api.h"
#include "kube/listing.h"
#include "wire/journal/cluster_list.h"

namespace synergy::cli {
namespace {

using wire::ClusterKind;

Result<> AddAll(kube::ApiClient& client, ClusterKind kind, const kube::ListRequest& request,
                wire::ClusterListWriter& list) {
  return kube::ForEachPage(client, request,
                           [&](const std::string& page) { return list.AddPage(kind, page); });
}

bool TakesPart(const Pod& pod, const ClaimRules& rules) {
  if (pod.terminal || pod.deleting) return false;
  return !pod.node.empty() || (pod.waiting->scheduler == rules.scheduler_name && !pod.gated);
}

// Returns the latest time in the pod's fields.
WallTime LastTime(const Pod& pod) {
  WallTime last{};
  if (pod.waiting) last = pod.waiting->since;
  if (!pod.fungible) return last;
  if (pod.fungible->change) last = std::max(last, pod.fungible->change->at);
  if (pod.fungible->memory_reading) last = std::max(last, pod.fungible->memory_reading->at);
  return last;
}

}  // namespace

const ProfileObject* PresentCluster::FindProfile(const std::string& name) const {
  for (const ProfileObject& profile : profiles) {
    if (profile.profile_namespace == pod_namespace && profile.name == name) {
      return &profile;
    }
  }
  return nullptr;
}

Gpus PresentCluster::gpus() const {
  Gpus all;
  for (const Node& node : start.nodes) all += node.allocatable.main.gpus;
  return all;
}

size_t PresentCluster::SharedNodes() const {
  return static_cast<size_t>(
      std::count_if(start.nodes.begin(), start.nodes.end(),
                    [](const Node& node) { return node.gpu_kinds.slices > Slices(0); }));
}

Result<ResourceVector> PresentCluster::FairShare() const {
  ClusterState state;
  state.ReplaceNodes(start.nodes);
  state.ReplacePods(start.pods);
  const auto share = LeastFairShare(*state.Snapshot(), nullptr, Gpus(1), "", {});
  if (!share) return Fail(ErrorCode::kInvalid, "the cluster has no node with GPUs to schedule on");
  return *share;
}

Result<std::string> ReadCluster(kube::ApiClient& client, std::vector<std::string>& notes) {
  wire::ClusterListWriter list;
  auto added = AddAll(client, ClusterKind::kNode, {"/api/v1/nodes", ""}, list);
  if (added) {
    added = AddAll(client, ClusterKind::kPod, {"/api/v1/pods", kube::kLivingPods}, list);
  }
  if (!added) return Fail(added.error());
  added = AddAll(client, ClusterKind::kTrainingProfile, {kube::TrainingProfilesPath(), ""}, list);
  if (!added) notes.push_back("training profiles are missing: " + added.error().message);
  added = AddAll(client, ClusterKind::kNamespace, {"/api/v1/namespaces", ""}, list);
  if (!added) notes.push_back("labels of namespaces are missing: " + added.error().message);
  return list.Take();
}

Result<PresentCluster> ParseCluster(const std::string& text, const std::string& name,
                                    const wire::PodRules& rules) {
  auto list = wire::ReadClusterList(text, rules);
  if (!list) {
    return Fail(ErrorCode::kInvalid, fmt::format("{}: {}", name, list.error().message));
  }
  PresentCluster cluster;
  StartingCluster& start = cluster.start;
  start.nodes = std::move(list->nodes);
  start.namespaces = std::move(list->namespaces);
  cluster.profiles = std::move(list->profiles);
  for (Pod& pod : list->pods) {
    // The clocks start at the latest time in the cluster's objects.
    start.at = std::max(start.at, LastTime(pod));
    if (TakesPart(pod, rules.claims)) start.pods.push_back(std::move(pod));
  }
  if (cluster.gpus() <= Gpus(0)) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("{}: no Node has {} in status.allocatable", name, rules.gpu_resource));
  }
  // The pod that has waited longest is tried first.
  std::stable_sort(start.pods.begin(), start.pods.end(), [](const Pod& a, const Pod& b) {
    const auto since = [](const Pod& pod) { return pod.waiting ? pod.waiting->since : WallTime{}; };
    return since(a) < since(b);
  });
  return cluster;
}

}  // namespace synergy::cli
