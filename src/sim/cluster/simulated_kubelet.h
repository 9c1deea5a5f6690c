#pragma once

// Models the effects of a kubelet on the pods of its node.
//
// Threading: one owner.

#include <string>

#include "core/resources.h"
#include "sim/cluster/simulated_pods.h"
#include "sim/faults.h"

namespace synergy {

class SimulatedKubelet {
 public:
  // REQUIRES: `pods` outlives this object.
  explicit SimulatedKubelet(SimulatedPods& pods) : pods_(pods) {}

  // Starts the container with the amounts of the spec, and reports them in the status.
  void Start(const std::string& uid);

  enum class Resize {
    kNothing,  // the pod is gone or has what it requests, or the resize is refused permanently
    kInForce,
    kDeferred,  // the node has no room for it; try again
  };
  // Makes the resize that the spec requests, on a node with these amounts. `fault`: what the
  // kubelet does instead.
  Resize MakeResize(const std::string& uid, const ResourceVector& allocatable,
                    Faults::ResizeFault fault = Faults::ResizeFault::kNone);

 private:
  void SetResizeState(const SimulatedPod& pod, ResizeState state, const std::string& message);
  Resize Defer(const SimulatedPod& pod);

  SimulatedPods& pods_;
};

}  // namespace synergy
