#pragma once

// What a kubelet does to the pods of its node.
//
// Threading: one owner.

#include <string>

#include "core/resources.h"
#include "sim/cluster/simulated_pods.h"

namespace synergy {

class SimulatedKubelet {
 public:
  // `pods` outlives this.
  explicit SimulatedKubelet(SimulatedPods& pods) : pods_(pods) {}

  // The container runs with what the spec says, and the status says so.
  void Start(const std::string& uid);

  enum class Resize {
    kNothing,  // the pod is gone, or has what it asks for
    kInForce,
    kDeferred,  // there is no room for it: to be tried again
  };
  // Makes the resize that the spec asks for, on a node with these amounts.
  Resize MakeResize(const std::string& uid, const ResourceVector& allocatable);

 private:
  SimulatedPods& pods_;
};

}  // namespace synergy
