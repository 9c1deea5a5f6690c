#include "cluster/state/cluster_snapshot.h"

#include <functional>
#include <utility>

#include <absl/container/flat_hash_map.h>
#include <absl/hash/hash.h>
#include <absl/strings/string_view.h>

#include "cluster/devices/device_safety.h"

namespace synergy {

NodeState WithNode(const NodeState& state, Node node) {
  auto detail =
      state.detail ? std::make_shared<NodeDetail>(*state.detail) : std::make_shared<NodeDetail>();
  detail->name = std::move(node.name);
  detail->labels = std::move(node.labels);
  detail->taints = std::move(node.taints);
  detail->gpu_kinds = std::move(node.gpu_kinds);
  detail->allocatable = std::move(node.allocatable.other);
  detail->boot_id = std::move(node.boot_id);
  NodeState described = state;
  described.allocatable = node.allocatable.main;
  described.pods_allowed = node.pods_allowed;
  described.exists = true;
  described.unschedulable = node.unschedulable;
  described.deleting = node.deleting;
  described.short_of_memory = node.short_of_memory;
  described.by_claim = detail->gpu_kinds.by_claim;
  described.detail = std::move(detail);
  return described;
}

Slices SlicesTaken(const NodeState& node) {
  Slices taken;
  for (const auto& pod : node.detail->pods) taken += pod->slices;
  return taken;
}

Slices SlicesOfOthers(const NodeState& node) {
  Slices taken;
  for (const auto& pod : node.detail->pods) taken += pod->fungible ? Slices(0) : pod->slices;
  return taken;
}

NodeState EmptyNode(Node node) { return WithNode(NodeState{}, std::move(node)); }

Node NodeOf(const NodeState& state) {
  const NodeDetail& detail = *state.detail;
  Node node;
  node.name = detail.name;
  node.labels = detail.labels;
  node.taints = detail.taints;
  node.gpu_kinds = detail.gpu_kinds;
  node.allocatable = {state.allocatable, detail.allocatable};
  node.pods_allowed = state.pods_allowed;
  node.unschedulable = state.unschedulable;
  node.deleting = state.deleting;
  node.short_of_memory = state.short_of_memory;
  node.boot_id = detail.boot_id;
  return node;
}

NodeState WithoutPod(const NodeState& node, const Pod& pod) {
  auto detail = std::make_shared<NodeDetail>(*node.detail);
  detail->requested.Subtract(pod.requests.other);
  std::erase_if(detail->pods, [&pod](const auto& other) { return other->uid == pod.uid; });
  NodeState state = node;
  state.requested -= pod.requests.main;
  state.wanted -= pod.PlanningDemand();
  if (!pod.fungible) state.of_others -= pod.requests.main;
  if (pod.fungible) state.loans -= pod.fungible->LoanBalance();
  if (IsSuspect(pod)) --state.suspect_devices;
  --state.pods;
  state.detail = std::move(detail);
  return state;
}

NodeState WithoutPod(const NodeState& node, const std::string& uid) {
  for (const auto& pod : node.detail->pods) {
    if (pod->uid == uid) return WithoutPod(node, *pod);
  }
  return node;
}

NodeState WithPod(const NodeState& node, std::shared_ptr<const Pod> pod) {
  auto detail = std::make_shared<NodeDetail>(*node.detail);
  detail->requested.Add(pod->requests.other);
  NodeState state = node;
  state.requested += pod->requests.main;
  state.wanted += pod->PlanningDemand();
  if (!pod->fungible) state.of_others += pod->requests.main;
  if (pod->fungible) state.loans += pod->fungible->LoanBalance();
  if (IsSuspect(*pod)) ++state.suspect_devices;
  ++state.pods;
  detail->pods.push_back(std::move(pod));
  state.detail = std::move(detail);
  return state;
}

NodeState WithNominated(const NodeState& node, const std::string& but, int32_t least_priority) {
  NodeState state = node;
  for (const auto& pod : node.detail->nominated) {
    if (pod->uid == but || pod->priority < least_priority) continue;
    state = WithPod(state, pod);
  }
  return state;
}

namespace {

// Debian's Abseil has its own string_view, so its default hash does not accept std::string_view.
struct NameHash {
  using is_transparent = void;
  size_t operator()(std::string_view name) const {
    return absl::Hash<absl::string_view>()(absl::string_view(name.data(), name.size()));
  }
};

}  // namespace

struct NodeNames::Table {
  absl::flat_hash_map<std::string, NodeIndex, NameHash, std::equal_to<>> map;
};

NodeNames::NodeNames() : table_(std::make_unique<Table>()) {}
NodeNames::~NodeNames() = default;
NodeNames::NodeNames(const NodeNames& other) : table_(std::make_unique<Table>(*other.table_)) {}

std::optional<NodeIndex> NodeNames::Find(std::string_view name) const {
  const auto it = table_->map.find(name);
  if (it == table_->map.end()) return std::nullopt;
  return it->second;
}

void NodeNames::Prefetch(std::string_view name) const { table_->map.prefetch(name); }

void NodeNames::Insert(std::string_view name, NodeIndex index) {
  table_->map[std::string(name)] = index;
}
void NodeNames::Erase(std::string_view name) { table_->map.erase(name); }
size_t NodeNames::size() const { return table_->map.size(); }

ClusterSnapshot::ClusterSnapshot()
    : names_(std::make_shared<const NodeNames>()),
      scalars_(std::make_shared<const ScalarColumns::Shared>()),
      budgets_(std::make_shared<const std::vector<DisruptionBudget>>()),
      limits_(std::make_shared<const NamespaceLimits>()),
      gangs_(std::make_shared<const GangsByName>()) {}

std::vector<std::shared_ptr<const Pod>> ClusterSnapshot::MembersOnNodes(
    std::string_view gang) const {
  std::vector<std::shared_ptr<const Pod>> members;
  const GangSites* const sites = GangOf(gang);
  if (sites == nullptr) return members;
  for (const NodeIndex node : sites->nodes) {
    for (const auto& pod : nodes_[node].detail->pods) {
      if (pod->gang && pod->gang->name == gang) members.push_back(pod);
    }
  }
  return members;
}

ResourceVector ClusterSnapshot::BeingGiven(const std::string& pod_namespace) const {
  const auto found = being_given_.find(pod_namespace);
  return found == being_given_.end() ? ResourceVector{} : found->second;
}

}  // namespace synergy
