#pragma once

// A pod as scheduling sees it. Values; immutable once shared.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/resources.h"

namespace synergy {

// Key and value pairs as they stand on the object, sorted by key.
using Labels = std::vector<std::pair<std::string, std::string>>;

struct Pod {
  std::string uid;
  std::string pod_namespace;
  std::string name;
  std::string node;  // empty: not bound yet
  Labels labels;
  // What the pod takes from its node, by kube-scheduler's own accounting (docs/accounting.md):
  // requests, raised by what the kubelet has allocated or still enforces while a resize is under
  // way. `requests.main.gpus` counts the managed GPU resource.
  Resources requests;
  // The CPU and memory at which the job is near its best speed (annotation synergy.io/demand); the
  // requests where absent.
  std::optional<ResourceVector> demand;
  int32_t priority = 0;
  bool terminal = false;                 // Succeeded or Failed: takes nothing
  bool deleting = false;                 // still takes its share until it is gone
  bool tolerates_unschedulable = false;  // may go to cordoned nodes
  bool gated = false;                    // has scheduling gates, so it does not wait for resources

  bool UsesGpus() const { return requests.main.gpus > Gpus(0); }
  const ResourceVector& PlanningDemand() const { return demand ? *demand : requests.main; }
  std::string Key() const { return pod_namespace + "/" + name; }
};

}  // namespace synergy
