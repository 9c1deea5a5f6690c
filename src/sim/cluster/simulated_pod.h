#pragma once

// A pod as the API server of a simulated cluster has it, and as everybody who watches reads it.
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

  // As src/wire reads the object: the larger of what the spec asks for, the kubelet has set aside
  // and is in force, and what has been announced on top; the demand raised to that.
  Pod AsCounted() const;
  // What kube-scheduler takes it for, which knows nothing of announcements.
  ResourceVector CountedByKubeScheduler() const;

  std::string node;
  // Spec, status and annotations of the container whose CPU and memory may be changed; none:
  // nothing may be.
  std::optional<ManagedContainer> fungible;
  Waiting waiting;  // of no meaning with a node
  uint64_t resource_version = 0;

 private:
  Pod pod_;                 // what never changes
  ResourceVector besides_;  // requests beside the fungible container's
};

}  // namespace synergy
