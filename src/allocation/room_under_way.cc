#include "allocation/room_under_way.h"

#include "cluster/state/fit.h"

namespace synergy {
namespace {

// Returns the amounts that a shrinking resize in progress will release.
ResourceVector BeingCut(const Pod& pod) {
  if (!pod.fungible || !pod.fungible->reported) return {};
  const ManagedContainer& fungible = *pod.fungible;
  ResourceVector cut = fungible.Counted(LargerOf(fungible.in_force, fungible.set_aside)) -
                       fungible.Counted(fungible.requested);
  cut.gpus = Gpus(0);
  return LargerOf(cut, {});
}

}  // namespace

bool MayFitSoon(const Pod& pod, const NodeState& node) {
  if (!node.exists) return true;
  NodeState soon = node;
  for (const auto& share : node.detail->pods) {
    if (share->deleting) {
      soon = WithoutPod(soon, *share);
    } else {
      soon.requested -= BeingCut(*share);
    }
  }
  return CheckFit(pod, soon).none();
}

bool IsLate(const Pod& pod, const NodeState& node, const std::function<bool(const Pod&)>& counts) {
  if (!node.exists) return true;
  NodeState counted = node;
  counted.loans = {};
  for (const auto& share : node.detail->pods) {
    if (!counts(*share)) counted = WithoutPod(counted, *share);
  }
  const FitFailures failures = CheckFit(pod, counted);
  return (failures.Has(FitFailures::kTooManyPods) || failures.Has(FitFailures::kGpus) ||
          failures.Has(FitFailures::kCpu) || failures.Has(FitFailures::kMemory) ||
          failures.Has(FitFailures::kOther)) &&
         !Unresolvable(failures, pod.requests, counted);
}

}  // namespace synergy
