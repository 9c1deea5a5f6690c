#pragma once

// A pod as the scheduling code sees it. Values; immutable once shared.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cluster/devices/device_objects.h"
#include "cluster/gang.h"
#include "cluster/labels.h"
#include "cluster/managed_container.h"
#include "cluster/separation.h"
#include "core/clock.h"
#include "core/gpu_amount.h"
#include "core/resources.h"

namespace synergy {

struct NodeSelection;

// Properties that matter only while a pod has no node.
struct Waiting {
  std::string scheduler;       // spec.schedulerName
  bool unschedulable = false;  // condition PodScheduled is False for the reason Unschedulable
  std::string message;         // the condition's message
  WallTime since{};            // the condition's lastTransitionTime
  std::string kept_node;       // where the tuner keeps a place for it; empty: no place
  WallTime kept_until{};
  // The node where kube-scheduler evicted pods for this one (status.nominatedNodeName); empty:
  // none.
  std::string nominated_node;
  bool never_preempts = false;  // preemptionPolicy: Never
  bool prefers = false;  // it prefers some nodes: preferred affinity, or a soft topology spread
  std::shared_ptr<const NodeSelection> selection;
};

struct Pod {
  std::string uid;
  std::string pod_namespace;
  std::string name;
  std::string node;               // empty: not bound yet
  uint64_t resource_version = 0;  // grows with every change; 0: unknown
  Labels labels;
  // The share of the node that the pod takes, by kube-scheduler's own accounting
  // (docs/internals/accounting.md). It is the pod's requests, raised by what the kubelet has
  // allocated or still enforces during a resize, or by growth that the tuner has announced.
  // `requests.main.gpus` counts the managed GPU resource.
  Resources requests;
  // Slices of shared GPUs, which `requests.other` also contains.
  Slices slices;
  // The CPU and memory at which the job is near its best speed (annotation synergy.io/demand). If
  // absent, the requests are the demand.
  std::optional<ResourceVector> demand;
  // The required product of its GPUs, as in the label nvidia.com/gpu.product; empty: any.
  std::string gpu_product;
  std::shared_ptr<const PodDevices> devices;         // null: it names no ResourceClaims that count
  std::shared_ptr<const ManagedContainer> fungible;  // null: nothing of the pod may be changed
  std::shared_ptr<const Waiting> waiting;            // null: it has a node
  std::shared_ptr<const Gang> gang;                  // null: it is in no gang
  // Rules that keep this gang member apart from other pods; null if there are none, or it is in no
  // gang.
  std::shared_ptr<const Separation> separation;
  int32_t priority = 0;
  bool terminal = false;    // Succeeded or Failed: takes nothing
  bool succeeded = false;   // terminal, and not Failed
  bool misaligned = false;  // Failed because its node could not align it with NUMA nodes
  bool deleting = false;    // still takes its share until it is gone
  Duration grace{};         // termination grace period
  bool tolerates_unschedulable = false;  // may go to cordoned nodes
  bool gated = false;                    // has scheduling gates, so it does not wait for resources
  std::vector<std::string> warnings;     // warnings from admission for its creator

  // Returns whether it is a member of a gang with valid labels.
  bool IsOfGang() const { return gang && gang->problem.empty(); }
  // Return whether it has whole GPUs, or only slices.
  bool UsesGpus() const { return requests.main.gpus > Gpus(0); }
  bool SharesGpus() const { return slices > Slices(0) && !UsesGpus(); }
  const ResourceVector& PlanningDemand() const { return demand ? *demand : requests.main; }
  std::string Key() const { return pod_namespace + "/" + name; }
};

// Returns the number of pods in its gang; 1 if it trains alone, 0 if its gang labels are invalid.
inline int32_t GangSizeOf(const Pod& pod) { return pod.gang ? pod.gang->size : 1; }

}  // namespace synergy
