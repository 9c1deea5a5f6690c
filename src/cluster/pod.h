#pragma once

// A pod as scheduling sees it. Values; immutable once shared.

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
  std::string message;         // that condition's
  WallTime since{};            // its lastTransitionTime
  std::string kept_node;       // where the tuner keeps a place for it; empty: no place
  WallTime kept_until{};
  // Node where kube-scheduler has evicted pods for it (status.nominatedNodeName); empty: none.
  std::string nominated_node;
  bool never_preempts = false;  // preemptionPolicy: Never
  bool prefers = false;  // some nodes to others: preferred affinity, or a soft topology spread
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
  // (docs/internals/accounting.md): its requests, raised by what the kubelet has allocated or still
  // enforces while a resize is under way, or by what the tuner has announced to add.
  // `requests.main.gpus` counts the managed GPU resource.
  Resources requests;
  // Slices of shared GPUs, which are among `requests.other` as well.
  Slices slices;
  // The CPU and memory at which the job is near its best speed (annotation synergy.io/demand). If
  // absent, the requests.
  std::optional<ResourceVector> demand;
  // Required product of its GPUs, spelled as in the label nvidia.com/gpu.product; empty: any.
  std::string gpu_product;
  std::shared_ptr<const PodDevices> devices;  // null: it names no ResourceClaims, or none count
  std::shared_ptr<const ManagedContainer> fungible;  // null: nothing of the pod may be changed
  std::shared_ptr<const Waiting> waiting;            // null: it has a node
  std::shared_ptr<const Gang> gang;                  // null: it is in no gang
  // Rules that keep this pod of a gang apart from others; null: there are none, or it is in no
  // gang.
  std::shared_ptr<const Separation> separation;
  int32_t priority = 0;
  bool terminal = false;                 // Succeeded or Failed: takes nothing
  bool succeeded = false;                // terminal, and not Failed
  bool misaligned = false;               // Failed: its node could not align it with NUMA nodes
  bool deleting = false;                 // still takes its share until it is gone
  Duration grace{};                      // termination grace period
  bool tolerates_unschedulable = false;  // may go to cordoned nodes
  bool gated = false;                    // has scheduling gates, so it does not wait for resources
  std::vector<std::string> warnings;     // admission's warnings for its creator

  // Whether it is a member of a gang whose labels are valid.
  bool IsOfGang() const { return gang && gang->problem.empty(); }
  // Whether it has whole GPUs, or only slices of some.
  bool UsesGpus() const { return requests.main.gpus > Gpus(0); }
  bool SharesGpus() const { return slices > Slices(0) && !UsesGpus(); }
  const ResourceVector& PlanningDemand() const { return demand ? *demand : requests.main; }
  std::string Key() const { return pod_namespace + "/" + name; }
};

// Number of pods in its gang; 1 if it trains alone, 0 if its gang labels are invalid.
inline int32_t GangSizeOf(const Pod& pod) { return pod.gang ? pod.gang->size : 1; }

}  // namespace synergy
