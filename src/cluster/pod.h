#pragma once

// A pod as scheduling sees it. Values; immutable once shared.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cluster/fungible.h"
#include "cluster/gang.h"
#include "cluster/labels.h"
#include "cluster/separation.h"
#include "core/clock.h"
#include "core/resources.h"

namespace synergy {

struct NodeSelection;

// What is of interest only as long as a pod has no node.
struct Waiting {
  std::string scheduler;       // spec.schedulerName
  bool unschedulable = false;  // condition PodScheduled is False for the reason Unschedulable
  std::string message;         // that condition's
  WallTime since{};            // its lastTransitionTime
  std::string kept_node;       // where the tuner keeps a place for it; empty: nowhere
  WallTime kept_until{};
  // Where kube-scheduler has evicted others for it (status.nominatedNodeName); empty: nowhere.
  std::string nominated_node;
  bool never_preempts = false;  // preemptionPolicy: Never
  bool prefers = false;  // some nodes to others: preferred affinity, or a spread that may be broken
  std::shared_ptr<const NodeSelection> selection;
};

struct Pod {
  std::string uid;
  std::string pod_namespace;
  std::string name;
  std::string node;               // empty: not bound yet
  uint64_t resource_version = 0;  // grows with every change; 0: not known
  Labels labels;
  // What the pod takes from its node, by kube-scheduler's own accounting (docs/accounting.md):
  // requests, raised by what the kubelet has allocated or still enforces while a resize is under
  // way, or by what the tuner has announced that it will add. `requests.main.gpus` counts the
  // managed GPU resource.
  Resources requests;
  // The CPU and memory at which the job is near its best speed (annotation synergy.io/demand); the
  // requests where absent.
  std::optional<ResourceVector> demand;
  // Its GPUs have to be of this product, spelled as in the label nvidia.com/gpu.product; empty:
  // any.
  std::string gpu_product;
  std::shared_ptr<const Fungible> fungible;  // null: nothing of the pod may be changed
  std::shared_ptr<const Waiting> waiting;    // null: it has a node
  std::shared_ptr<const Gang> gang;          // null: it is of none
  // By what a gang's pod keeps off others; null: it keeps off nobody, or is of no gang.
  std::shared_ptr<const Separation> separation;
  int32_t priority = 0;
  bool terminal = false;                 // Succeeded or Failed: takes nothing
  bool succeeded = false;                // terminal, and not Failed
  bool misaligned = false;               // Failed: its node could not align it with NUMA nodes
  bool deleting = false;                 // still takes its share until it is gone
  Duration grace{};                      // that it has to end in, once it is deleted
  bool tolerates_unschedulable = false;  // may go to cordoned nodes
  bool gated = false;                    // has scheduling gates, so it does not wait for resources
  std::vector<std::string> warnings;     // what admission had to tell its creator

  bool UsesGpus() const { return requests.main.gpus > Gpus(0); }
  const ResourceVector& PlanningDemand() const { return demand ? *demand : requests.main; }
  std::string Key() const { return pod_namespace + "/" + name; }
};

// The pods of its gang; 1 where it trains alone. 0: what it says of its gang makes no sense.
inline int32_t GangSizeOf(const Pod& pod) { return pod.gang ? pod.gang->size : 1; }

}  // namespace synergy
