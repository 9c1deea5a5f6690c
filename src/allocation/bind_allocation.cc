#include "allocation/bind_allocation.h"

#include <algorithm>
#include <cstdint>
#include <memory>

namespace synergy {

ResourceVector ReservedOf(Gpus free, const ResourceVector& per_gpu) {
  const int64_t gpus = std::max<int64_t>(free.count(), 0);
  return {Gpus(0), per_gpu.cpu * gpus, per_gpu.memory * gpus};
}

ResourceVector AllocationAtBind(const Pod& pod, const NodeState& node,
                                const ResourceVector& reserve_per_gpu) {
  const ResourceVector left = node.Free() - pod.requests.main;
  return GivenWithin(*pod.fungible, left, ReservedOf(left.gpus, reserve_per_gpu));
}

ResourceVector GivenWithin(const ManagedContainer& fungible, const ResourceVector& left,
                           const ResourceVector& reserved) {
  const ResourceVector whole =
      fungible.WithinQosClass(LargerOf(fungible.requested, fungible.demand));
  // Amounts up to the requests of the pod's init containers are already counted.
  ResourceVector counted = LesserOf(whole, fungible.Counted(fungible.requested));
  counted.cpu = std::max(fungible.Rounded(counted.cpu), fungible.requested.cpu);
  if (whole.cpu - counted.cpu <= left.cpu && whole.memory - counted.memory <= left.memory) {
    return whole;
  }
  const auto given = [&](auto requested, auto demand, auto spare, auto reserve) {
    const auto zero = decltype(requested)(0);
    const auto wanted = std::max(demand - requested, zero);
    return requested + std::clamp(spare - reserve, zero, wanted);
  };
  ResourceVector amounts = counted;
  amounts.cpu = std::max(amounts.cpu,
                         fungible.Rounded(given(amounts.cpu, whole.cpu, left.cpu, reserved.cpu)));
  amounts.memory = given(amounts.memory, whole.memory, left.memory, reserved.memory);
  return amounts;
}

Pod WithAllocation(Pod pod, const ResourceVector& amounts) {
  auto fungible = std::make_shared<ManagedContainer>(*pod.fungible);
  pod.requests.main += fungible->Counted(amounts) - fungible->Counted(fungible->requested);
  fungible->requested = amounts;
  fungible->in_force = amounts;
  fungible->set_aside = amounts;
  pod.fungible = std::move(fungible);
  return pod;
}

Pod PlanAtBind(const Pod& pod, const std::string& node, const ClusterSnapshot& snapshot,
               const ReserveRule& reserve, const std::optional<ResourceVector>& common) {
  const auto place = snapshot.Find(node);
  if (!pod.fungible || !place || !snapshot.node(*place).exists) return pod;
  // Room that preemption made is reserved for the nominated pods.
  NodeState there = WithNominated(WithoutPod(snapshot.node(*place), pod.uid), pod.uid);
  there.allocatable -= reserve.headroom;
  const ManagedContainer& fungible = *pod.fungible;
  // Apply the limits of the pod's namespace.
  const ResourceVector most =
      snapshot.limits().MostFor(pod, snapshot.BeingGiven(pod.pod_namespace));
  ResourceVector amounts =
      LesserOf(AllocationAtBind(pod, there, ReservePerGpu(snapshot, reserve)), most);
  if (common) {
    const ResourceVector part = PartOf(*common, fungible.requested.gpus, common->gpus);
    amounts = LesserOf(amounts, LargerOf(part, fungible.requested));
  }
  amounts.cpu = std::max(fungible.Rounded(amounts.cpu), fungible.requested.cpu);
  return WithAllocation(pod, amounts);
}

}  // namespace synergy
