#include "sim/cluster/simulated_kubelet.h"

namespace synergy {

void SimulatedKubelet::Start(const std::string& uid) {
  pods_.WriteStatus(uid, [](SimulatedPod& pod) {
    if (!pod.fungible) return;
    pod.fungible->reported = true;
    pod.fungible->in_force = pod.fungible->set_aside = pod.fungible->requested;
  });
}

SimulatedKubelet::Resize SimulatedKubelet::MakeResize(const std::string& uid,
                                                      const ResourceVector& allocatable) {
  const SimulatedPod* const pod = pods_.Find(uid);
  if (pod == nullptr || !pod->fungible || !pod->fungible->reported || pod->fungible->Settled())
    return Resize::kNothing;
  const ManagedContainer& fungible = *pod->fungible;
  const ResourceVector free = allocatable - pods_.CountedOn(pod->node);
  const bool grows_too_much =
      (fungible.requested.cpu > fungible.set_aside.cpu && free.cpu < MilliCpu(0)) ||
      (fungible.requested.memory > fungible.set_aside.memory && free.memory < Bytes(0));
  if (grows_too_much) {
    if (fungible.resize != ResizeState::kDeferred) {
      pods_.WriteStatus(uid, [](SimulatedPod& waits) {
        waits.fungible->resize = ResizeState::kDeferred;
        waits.fungible->resize_message = "Node didn't have enough resource";
      });
    }
    return Resize::kDeferred;
  }
  pods_.WriteStatus(uid, [](SimulatedPod& resized) {
    resized.fungible->in_force = resized.fungible->set_aside = resized.fungible->requested;
    resized.fungible->resize = ResizeState::kNone;
    resized.fungible->resize_message.clear();
  });
  return Resize::kInForce;
}

}  // namespace synergy
