#pragma once

// What a kubelet does to the pods of its node.
//
// Threading: one owner.

#include <string>

#include "core/resources.h"
#include "sim/cluster/simulated_pods.h"
#include "sim/faults.h"

namespace synergy {

class SimulatedKubelet {
 public:
  // `pods` outlives this.
  explicit SimulatedKubelet(SimulatedPods& pods) : pods_(pods) {}

  // The container runs with what the spec says, and the status says so.
  void Start(const std::string& uid);

  enum class Resize {
    kNothing,  // the pod is gone, or has what it asks for; or the resize is refused for good
    kInForce,
    kDeferred,  // there is no room for it: to be tried again
  };
  // Makes the resize that the spec asks for, on a node with these amounts. `fault`: what the
  // kubelet does in place of that.
  Resize MakeResize(const std::string& uid, const ResourceVector& allocatable,
                    Faults::ResizeFault fault = Faults::ResizeFault::kNone);

 private:
  void SetResizeState(const SimulatedPod& pod, ResizeState state, const std::string& message);
  Resize Defer(const SimulatedPod& pod);

  SimulatedPods& pods_;
};

}  // namespace synergy
