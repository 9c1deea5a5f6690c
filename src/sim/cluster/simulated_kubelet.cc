#include "sim/cluster/simulated_kubelet.h"

namespace synergy {

void SimulatedKubelet::Start(const std::string& uid) {
  pods_.WriteStatus(uid, [](SimulatedPod& pod) {
    if (!pod.fungible) return;
    pod.fungible->reported = true;
    pod.fungible->in_force = pod.fungible->set_aside = pod.fungible->requested;
  });
}

void SimulatedKubelet::SetResizeState(const SimulatedPod& pod, ResizeState state,
                                      const std::string& message) {
  if (pod.fungible->resize == state) return;
  pods_.WriteStatus(pod.uid(), [&](SimulatedPod& written) {
    written.fungible->resize = state;
    written.fungible->resize_message = message;
  });
}

SimulatedKubelet::Resize SimulatedKubelet::Defer(const SimulatedPod& pod) {
  SetResizeState(pod, ResizeState::kDeferred, "Node didn't have enough resource");
  return Resize::kDeferred;
}

SimulatedKubelet::Resize SimulatedKubelet::MakeResize(const std::string& uid,
                                                      const ResourceVector& allocatable,
                                                      Faults::ResizeFault fault) {
  const SimulatedPod* const pod = pods_.Find(uid);
  if (pod == nullptr || !pod->fungible || !pod->fungible->reported) return Resize::kNothing;
  const ManagedContainer& fungible = *pod->fungible;
  if (fungible.Settled()) {
    // The refused amounts are no longer requested.
    if (fungible.resize == ResizeState::kInfeasible) SetResizeState(*pod, ResizeState::kNone, {});
    return Resize::kNothing;
  }
  if (fault == Faults::ResizeFault::kDeferred) return Defer(*pod);
  if (fault == Faults::ResizeFault::kRefused) {
    SetResizeState(*pod, ResizeState::kInfeasible, "Node didn't have enough capacity");
    return Resize::kNothing;
  }
  const ResourceVector free = allocatable - pods_.CountedOn(pod->node);
  const bool grows_too_much =
      (fungible.requested.cpu > fungible.set_aside.cpu && free.cpu < MilliCpu(0)) ||
      (fungible.requested.memory > fungible.set_aside.memory && free.memory < Bytes(0));
  if (grows_too_much) return Defer(*pod);
  pods_.WriteStatus(uid, [](SimulatedPod& resized) {
    resized.fungible->in_force = resized.fungible->set_aside = resized.fungible->requested;
    resized.fungible->resize = ResizeState::kNone;
    resized.fungible->resize_message.clear();
  });
  return Resize::kInForce;
}

}  // namespace synergy
