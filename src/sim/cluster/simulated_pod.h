#pragma once

// A pod as the API server of a simulated cluster stores it, and as every watch reports it.
//
// Threading: values.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cluster/managed_container.h"
#include "cluster/pod.h"
#include "core/resources.h"

namespace synergy {

class SimulatedPod {
 public:
  // A pod as the watch reports it, waiting or bound.
  explicit SimulatedPod(const Pod& pod);

  const std::string& uid() const { return pod_.uid; }
  const std::string& pod_namespace() const { return pod_.pod_namespace; }
  const std::shared_ptr<const Gang>& gang() const { return pod_.gang; }
  bool waits() const { return node.empty(); }

  // Returns the pod as src/wire reads the object. Its amount is the largest of three (in the spec,
  // allocated by the kubelet, in force), plus the announced increase; its demand is at least that
  // amount.
  Pod AsCounted() const;
  // Returns the amounts that kube-scheduler counts; it ignores announcements.
  ResourceVector CountedByKubeScheduler() const;
  // Returns the amounts that a kubelet has set aside for the pod.
  ResourceVector AllocatedByKubelet() const;

  std::string node;
  // Spec, status and annotations of the container whose CPU and memory may change; absent: there is
  // no such container.
  std::optional<ManagedContainer> fungible;
  Waiting waiting;  // meaningless for a bound pod
  uint64_t resource_version = 0;

 private:
  Pod pod_;                 // the immutable part
  ResourceVector besides_;  // requests apart from the fungible container's
};

}  // namespace synergy
