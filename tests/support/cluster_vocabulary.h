#pragma once

// Short functions with which tests make nodes and pods, and read snapshots.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/disruption_budget.h"
#include "cluster/node.h"
#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"
#include "cluster/state/cluster_state.h"

namespace synergy::testing {

inline Node MakeNode(std::string name, const ResourceVector& allocatable, int64_t pods = 110) {
  Node node;
  node.name = std::move(name);
  node.allocatable.main = allocatable;
  node.pods_allowed = pods;
  return node;
}

// Makes a pod whose name is also its UID.
inline Pod MakePod(std::string name, const ResourceVector& requests) {
  Pod pod;
  pod.uid = name;
  pod.pod_namespace = "team";
  pod.name = std::move(name);
  pod.requests.main = requests;
  return pod;
}

// Makes a pod that requests GPUs, and one core and 1 GiB for each.
inline Pod MakeGpuPod(std::string name, int64_t gpus) {
  return MakePod(std::move(name), {Gpus(gpus), Cores(gpus), GiB(gpus)});
}

// The resource of slices, in tests in which GPUs are nvidia.com/gpu.
inline constexpr std::string_view kSlicesResource = "nvidia.com/gpu.shared";

// Makes a node that offers its GPUs in slices. `left`: its CPU, memory and whole GPUs.
inline Node MakeSharedNode(std::string name, int64_t gpus, int64_t per_gpu,
                           const ResourceVector& left) {
  Node node = MakeNode(std::move(name), left);
  node.allocatable.other.Set(kSlicesResource, gpus * per_gpu);
  node.gpu_kinds.slices = Slices(gpus * per_gpu);
  node.gpu_kinds.slices_per_gpu = per_gpu;
  return node;
}
// Makes a pod that requests slices of GPUs.
inline Pod MakeSlicePod(std::string name, int64_t slices, MilliCpu cpu = Cores(1),
                        Bytes memory = GiB(1)) {
  Pod pod = MakePod(std::move(name), {Gpus(0), cpu, memory});
  pod.requests.other.Set(kSlicesResource, slices);
  pod.slices = Slices(slices);
  return pod;
}

// Returns a copy of the pod with one change.
inline Pod SizedByUs(Pod pod) {
  auto fungible = std::make_shared<ManagedContainer>();
  fungible->requested = fungible->floor = fungible->demand = pod.requests.main;
  pod.fungible = std::move(fungible);
  return pod;
}
inline Pod OnNode(Pod pod, std::string node) {
  pod.node = std::move(node);
  return pod;
}
inline Pod Finished(Pod pod) {
  pod.terminal = true;
  return pod;
}
// Brings the state up to this resource version, with an event about an otherwise unknown pod.
inline void ObserveUntil(ClusterState& state, uint64_t version) {
  Pod ended = Finished(MakePod("ended", {}));
  ended.resource_version = version;
  state.UpsertPod(std::move(ended));
}
inline Pod Demanding(Pod pod, MilliCpu cpu, Bytes memory) {
  pod.demand = ResourceVector{pod.requests.main.gpus, cpu, memory};
  return pod;
}
inline Pod WithOther(Pod pod, std::string_view name, int64_t amount) {
  pod.requests.other.Set(name, amount);
  return pod;
}
inline Pod WithPriority(Pod pod, int32_t priority) {
  pod.priority = priority;
  return pod;
}
inline Pod Labelled(Pod pod, std::string key, std::string value) {
  pod.labels.emplace_back(std::move(key), std::move(value));
  return pod;
}
inline Node Cordoned(Node node) {
  node.unschedulable = true;
  return node;
}

// Returns the index of the node of that name; aborts the test if there is none.
inline NodeIndex PlaceOf(const ClusterSnapshot& snapshot, std::string_view name) {
  const auto place = snapshot.Find(name);
  if (!place) {
    std::fprintf(stderr, "the snapshot has no node %.*s\n", static_cast<int>(name.size()),
                 name.data());
    std::abort();
  }
  return *place;
}
inline const NodeState& NodeOf(const ClusterSnapshot& snapshot, std::string_view name) {
  return snapshot.node(PlaceOf(snapshot, name));
}

}  // namespace synergy::testing
