#pragma once

// The cluster at one moment: what every decision reads. Immutable, so that a decision needs no lock
// and cannot see half a change. Made by ClusterState.
//
// Threading: any number of readers.

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/disruption_budget.h"
#include "cluster/namespace_limits.h"
#include "cluster/node.h"
#include "cluster/pod.h"
#include "cluster/state/cow_array.h"
#include "cluster/state/cow_map.h"
#include "cluster/state/scalar_columns.h"
#include "core/clock.h"
#include "core/resources.h"

namespace synergy {

// Where a node stands in a snapshot. Steady while the node exists; reused for another one after it
// is gone.
using NodeIndex = uint32_t;

// A node's kubelet has failed a pod with so many GPUs because it could not align what is free there
// with NUMA nodes (TopologyAffinityError). Another one like it would fail, too, while nothing there
// has become free.
struct Misalignment {
  Gpus gpus;
  WallTime until{};  // the kubelet may think otherwise by then

  bool operator==(const Misalignment&) const = default;
};

// What is looked at for few nodes per decision, kept out of the way of what is looked at for all.
struct NodeDetail {
  std::string name;
  Labels labels;
  std::vector<Taint> taints;
  GpuKinds gpu_kinds;
  ScalarResources allocatable;
  ScalarResources requested;
  std::vector<std::shared_ptr<const Pod>> pods;  // bound, assumed and expected ones, in no order
  // Waiting pods that pre-emption has made room for here, and that are counted nowhere.
  std::vector<std::shared_ptr<const Pod>> nominated;
  std::vector<Misalignment> misaligned;
  std::string boot_id;  // another one after each start of the machine; empty: not known
};

struct NodeState {
  ResourceVector allocatable;
  ResourceVector requested;  // by the pods that are bound, assumed or expected here
  ResourceVector wanted;     // by the same pods: their demand in place of what they were given
  // The part of `requested` that belongs to pods that we do not size: those without GPUs, and GPU
  // pods that others manage.
  ResourceVector of_others;
  int64_t pods_allowed = 0;
  int64_t pods = 0;
  bool exists = false;  // a Node object is known (pods may be known before their node)
  bool unschedulable = false;
  bool deleting = false;
  bool short_of_memory = false;
  bool misaligns = false;  // there are some in `detail`
  uint64_t changed = 0;    // the version of the cluster in which this became as it is
  std::shared_ptr<const NodeDetail> detail;

  ResourceVector Free() const { return allocatable - requested; }
  // What would be free if everybody had its demand: what ranks a place for a newcomer. What was
  // taken from a pod is not free, since it would be given back.
  ResourceVector FreeOfDemand() const { return allocatable - wanted; }
  // Whether new pods may come: only such nodes count as capacity.
  bool Schedulable() const { return exists && !unschedulable && !deleting; }
};

// A node that nobody is known to be on.
NodeState EmptyNode(Node node);
// The node that `state`, in which one exists, was made of.
Node NodeOf(const NodeState& state);
// The pods of `state` on a node that is now as `node` says.
NodeState WithNode(const NodeState& state, Node node);
// The node as it would be without a pod that is counted there, or with one that is not.
NodeState WithoutPod(const NodeState& node, const Pod& pod);
// The same for a pod that may be counted there: as the node counts it.
NodeState WithoutPod(const NodeState& node, const std::string& uid);
NodeState WithPod(const NodeState& node, std::shared_ptr<const Pod> pod);
// The node with the pods counted that are nominated to it: those of at least that priority, `but`
// for one.
NodeState WithNominated(const NodeState& node, const std::string& but = {},
                        int32_t least_priority = std::numeric_limits<int32_t>::min());

// Name -> place. Absl's table, hidden so that nobody else depends on it.
class NodeNames {
 public:
  NodeNames();
  ~NodeNames();
  NodeNames(const NodeNames& other);
  NodeNames& operator=(const NodeNames&) = delete;

  std::optional<NodeIndex> Find(std::string_view name) const;
  void Prefetch(std::string_view name) const;
  void Insert(std::string_view name, NodeIndex index);
  void Erase(std::string_view name);
  size_t size() const;

 private:
  struct Table;
  std::unique_ptr<Table> table_;
};

// Where the members of a gang (gang.h) are.
struct GangSites {
  std::vector<NodeIndex> nodes;  // where any of them is counted; ascending, each once
  size_t members = 0;            // all that exist and are not about to go
  size_t waiting = 0;            // those of them with GPUs that the watch says are not bound

  bool operator==(const GangSites&) const = default;
};
using GangsByName = CowMap<GangSites>;

class ClusterSnapshot {
 public:
  ClusterSnapshot();

  // Every place, those of unknown or removed nodes included (`exists` is false there).
  size_t size() const { return nodes_.size(); }
  const NodeState& node(NodeIndex index) const { return nodes_[index]; }
  std::optional<NodeIndex> Find(std::string_view name) const { return names_->Find(name); }
  // Hints that Find(name) or node(index) will be called soon, for walks over many nodes.
  void Prefetch(std::string_view name) const { names_->Prefetch(name); }
  void Prefetch(NodeIndex index) const {
    constexpr size_t kCacheLine = 64;
    const auto* const state = reinterpret_cast<const char*>(&nodes_[index]);
    for (size_t at = 0; at < sizeof(NodeState); at += kCacheLine) __builtin_prefetch(state + at);
  }

  // What nodes have free of a resource that is not divided, by NodeIndex: what their states say, in
  // one place. Null: nothing anywhere.
  const ScalarColumn* FreeOf(std::string_view resource) const { return scalars_->Find(resource); }

  // Per dimension the largest allocatable of any node, at least 1: the unit in which leftovers of
  // unlike dimensions add.
  const ResourceVector& largest_node() const { return largest_node_; }
  // Per GPU, the least CPU and the least memory that any GPU pod, waiting or running, asks for
  // (gpus = 1); zero without such pods.
  const ResourceVector& least_per_gpu() const { return least_per_gpu_; }
  const std::vector<DisruptionBudget>& disruption_budgets() const { return *budgets_; }
  const NamespaceLimits& limits() const { return *limits_; }
  std::shared_ptr<const NamespaceLimits> share_limits() const { return limits_; }
  // What the pods of the namespace that are assumed are being given beyond what the API server has
  // told us that they request; nothing where no namespace has a quota.
  ResourceVector BeingGiven(const std::string& pod_namespace) const;
  // GPU pods that are neither bound nor placed by us, those with scheduling gates and those being
  // deleted left out.
  size_t waiting_gpu_pods() const { return waiting_gpu_pods_; }
  // The newest resource version of a pod that the watch has brought: whatever was written of pods
  // before that is in here.
  uint64_t pods_heard_until() const { return pods_heard_until_; }
  // Null: nobody of it is known.
  const GangSites* GangOf(std::string_view name) const { return gangs_->Find(name); }
  // Those of its members that are counted on nodes, in no order.
  std::vector<std::shared_ptr<const Pod>> MembersOnNodes(std::string_view gang) const;
  // Grows with every change of the ClusterState.
  uint64_t version() const { return version_; }

 private:
  friend class ClusterState;

  CowArray<NodeState> nodes_;
  std::shared_ptr<const NodeNames> names_;
  std::shared_ptr<const ScalarColumns::Shared> scalars_;
  std::shared_ptr<const std::vector<DisruptionBudget>> budgets_;
  std::shared_ptr<const NamespaceLimits> limits_;
  std::shared_ptr<const GangsByName> gangs_;
  std::map<std::string, ResourceVector> being_given_;  // by namespace
  ResourceVector largest_node_;
  ResourceVector least_per_gpu_;
  size_t waiting_gpu_pods_ = 0;
  uint64_t pods_heard_until_ = 0;
  uint64_t version_ = 0;
};

}  // namespace synergy
