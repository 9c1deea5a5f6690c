#include "allocation/gangs/gang_allocation.h"

#include <map>
#include <memory>
#include <vector>

#include "allocation/bind_allocation.h"

namespace synergy {
namespace {

using Members = std::vector<std::shared_ptr<const Pod>>;

// Returns the node's free amounts beyond the requests of `members`.
ResourceVector LeftBeside(const NodeState& node, const Members& members,
                          const ReserveRule& reserve) {
  NodeState there = node;
  ResourceVector requests;
  for (const auto& member : members) {
    there = WithoutPod(there, *member);
    requests += member->requests.main;
  }
  there = WithNominated(there);
  return there.Free() - reserve.headroom - requests;
}

// Gives each member its part of its node's amounts, within what the namespace allows for all
// members.
void GiveOnNode(const ResourceVector& left, const ResourceVector& reserved, const Members& members,
                const ClusterSnapshot& snapshot, size_t coming, Members& planned) {
  Gpus gpus;
  for (const auto& member : members) gpus += member->fungible->requested.gpus;
  for (const auto& member : members) {
    const ManagedContainer& fungible = *member->fungible;
    const ResourceVector given = GivenWithin(fungible, PartOf(left, fungible.requested.gpus, gpus),
                                             PartOf(reserved, fungible.requested.gpus, gpus));
    planned.push_back(std::make_shared<Pod>(WithAllocation(
        *member, snapshot.limits().MostForEach(*member, given, coming,
                                               snapshot.BeingGiven(member->pod_namespace)))));
  }
}

}  // namespace

std::optional<ResourceVector> AllocationOfGang(const ClusterSnapshot& snapshot,
                                               const std::string& gang,
                                               const ReserveRule& reserve) {
  Members planned;
  std::map<NodeIndex, Members> coming;
  size_t all_coming = 0;
  for (const auto& member : snapshot.MembersOnNodes(gang)) {
    if (!member->fungible || member->fungible->requested.gpus <= Gpus(0)) continue;
    const auto node = snapshot.Find(member->node);
    if (!member->waiting || !node) {
      planned.push_back(member);
    } else {
      coming[*node].push_back(member);
      ++all_coming;
    }
  }
  const ResourceVector per_gpu = ReservePerGpu(snapshot, reserve);
  for (const auto& [node, members] : coming) {
    const ResourceVector left = LeftBeside(snapshot.node(node), members, reserve);
    GiveOnNode(left, ReservedOf(left.gpus, per_gpu), members, snapshot, all_coming, planned);
  }
  std::optional<ResourceVector> least;
  for (const auto& member : planned) {
    const ResourceVector& has = member->fungible->requested;
    const ResourceVector part = PartOf(has, least.value_or(has).gpus, has.gpus);
    least = least ? LesserOf(*least, part) : has;
  }
  return least;
}

}  // namespace synergy
