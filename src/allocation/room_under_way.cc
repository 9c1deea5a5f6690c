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

}  // namespace synergy
