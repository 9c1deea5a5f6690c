#pragma once

// The cluster at one moment, which every decision reads. It is immutable, so that a decision needs
// no lock and cannot see half of a change. ClusterState creates it.
//
// Threading: any number of readers.

#include <algorithm>
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

// The index of a node in a snapshot. It is fixed while the node exists, and reused for another node
// afterwards.
using NodeIndex = uint32_t;

// A node's kubelet failed a pod with this number of GPUs because it could not align the free ones
// with NUMA nodes (TopologyAffinityError). A similar pod would also fail until something on the
// node becomes free.
struct Misalignment {
  Gpus gpus;
  WallTime until{};  // the kubelet may decide otherwise after this time

  bool operator==(const Misalignment&) const = default;
};

// Properties that a decision reads for only a few nodes. NodeState has those that a decision reads
// for all nodes.
struct NodeDetail {
  std::string name;
  Labels labels;
  std::vector<Taint> taints;
  GpuKinds gpu_kinds;
  ScalarResources allocatable;
  ScalarResources requested;
  std::vector<std::shared_ptr<const Pod>> pods;  // bound, assumed and expected ones, unordered
  // Waiting pods for which preemption has made room on this node. No node counts them.
  std::vector<std::shared_ptr<const Pod>> nominated;
  std::vector<Misalignment> misaligned;
  std::string boot_id;  // changes with each boot; empty: unknown
};

struct NodeState {
  ResourceVector allocatable;
  ResourceVector requested;  // by the pods that are bound, assumed or expected here
  ResourceVector wanted;  // as `requested`, but with the pods' demand in place of their allocation
  // The part of `requested` that belongs to pods that Synergy does not size: pods without GPUs, and
  // GPU pods that Synergy does not manage.
  ResourceVector of_others;
  MilliCpu loans;  // the sum of its pods' LoanBalance()
  int64_t pods_allowed = 0;
  int64_t pods = 0;
  bool exists = false;  // a Node object is known (pods may be known before their node)
  bool unschedulable = false;
  bool deleting = false;
  bool short_of_memory = false;
  int64_t suspect_devices = 0;  // its pods that IsSuspect() (devices/device_safety.h)
  bool misaligns = false;       // `detail` has misalignments
  bool by_claim = false;        // same as in `detail->gpu_kinds`
  uint64_t changed = 0;         // the cluster's version in which this state last changed
  std::shared_ptr<const NodeDetail> detail;

  // Returns the amounts that are neither requested nor kept for loans.
  ResourceVector Free() const {
    ResourceVector free = allocatable - requested;
    free.cpu -= std::max(loans, MilliCpu(0));
    return free;
  }
  // Returns the amounts that would be free if every pod had its demand. Placements rank nodes by
  // these amounts. Amounts that were cut from a pod do not count as free, because the pod would get
  // them back.
  ResourceVector FreeOfDemand() const { return allocatable - wanted; }
  // Returns whether the node accepts new pods. Only such nodes count as capacity.
  bool Schedulable() const { return exists && !unschedulable && !deleting; }
};

// Return the slices of all pods of the node, and of those pods that Synergy does not size.
Slices SlicesTaken(const NodeState& node);
Slices SlicesOfOthers(const NodeState& node);

// Returns a node without pods.
NodeState EmptyNode(Node node);
// Returns the node that `state` was made from. REQUIRES: state.exists.
Node NodeOf(const NodeState& state);
// Returns the state of `node` with the pods of `state`. `node` is a new version of the node of
// `state`.
NodeState WithNode(const NodeState& state, Node node);
// Returns the node without `pod`. REQUIRES: `node` counts the pod.
NodeState WithoutPod(const NodeState& node, const Pod& pod);
// Returns the node without the pod of that uid, with the amounts that `node` counts for it. Returns
// `node` unchanged if it does not count the pod.
NodeState WithoutPod(const NodeState& node, const std::string& uid);
// Returns the node with `pod`. REQUIRES: `node` does not count the pod.
NodeState WithPod(const NodeState& node, std::shared_ptr<const Pod> pod);
// Returns the node with its nominated pods counted: those of at least that priority, except `but`.
NodeState WithNominated(const NodeState& node, const std::string& but = {},
                        int32_t least_priority = std::numeric_limits<int32_t>::min());

// Maps names to indices. Hides Abseil's hash table, so that no other code depends on it.
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

// The nodes and numbers of a gang's members (gang.h).
struct GangSites {
  std::vector<NodeIndex> nodes;  // where members are counted; ascending, without duplicates
  size_t members = 0;            // existing members that are not being deleted
  size_t waiting = 0;            // unbound members with GPUs, as the watch reported them
  size_t succeeded = 0;          // members that have Succeeded, as far as known

  bool operator==(const GangSites&) const = default;
};
using GangsByName = CowMap<GangSites>;

class ClusterSnapshot {
 public:
  ClusterSnapshot();

  // The number of indices, including those of unknown or removed nodes (`exists` is false there).
  size_t size() const { return nodes_.size(); }
  const NodeState& node(NodeIndex index) const { return nodes_[index]; }
  std::optional<NodeIndex> Find(std::string_view name) const { return names_->Find(name); }
  // Loads the data of a later Find(name) or node(index) into the processor's cache, for loops over
  // many nodes.
  void Prefetch(std::string_view name) const { names_->Prefetch(name); }
  void Prefetch(NodeIndex index) const {
    constexpr size_t kCacheLine = 64;
    const auto* const state = reinterpret_cast<const char*>(&nodes_[index]);
    for (size_t at = 0; at < sizeof(NodeState); at += kCacheLine) __builtin_prefetch(state + at);
  }

  // Returns each node's free amount of an undivided resource, by NodeIndex: the same values as in
  // the nodes' states, in one array. Returns null if no node has ever offered the resource.
  const ScalarColumn* FreeOf(std::string_view resource) const { return scalars_->Find(resource); }

  // The largest allocatable amount of any node in each dimension, at least 1. Free amounts of
  // different dimensions are added in these units.
  const ResourceVector& largest_node() const { return largest_node_; }
  // The least CPU and the least memory per GPU that any GPU pod, waiting or running, requests (gpus
  // = 1); zero without such pods.
  const ResourceVector& least_per_gpu() const { return least_per_gpu_; }
  const std::vector<DisruptionBudget>& disruption_budgets() const { return *budgets_; }
  const NamespaceLimits& limits() const { return *limits_; }
  std::shared_ptr<const NamespaceLimits> share_limits() const { return limits_; }
  // Returns the amounts that assumed pods of the namespace get beyond the requests that the API
  // server has reported; zero if no namespace has a quota.
  ResourceVector BeingGiven(const std::string& pod_namespace) const;
  // The number of GPU pods that are neither bound nor placed by Synergy. Excludes pods that have
  // scheduling gates or are being deleted.
  size_t waiting_gpu_pods() const { return waiting_gpu_pods_; }
  // The newest resource version of any pod that the watch has reported; the snapshot contains all
  // earlier writes of pods.
  uint64_t pods_observed_until() const { return pods_observed_until_; }
  // Returns null if no pod of the gang is known.
  const GangSites* GangOf(std::string_view name) const { return gangs_->Find(name); }
  // Returns the members that are counted on nodes, unordered.
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
  uint64_t pods_observed_until_ = 0;
  uint64_t version_ = 0;
};

}  // namespace synergy
