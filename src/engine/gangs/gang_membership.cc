#include "engine/gangs/gang_membership.h"

#include <algorithm>

#include <fmt/format.h>

namespace synergy {

GangMembership GangMembership::Read(const ClusterState& state, const Gang& gang, size_t succeeded) {
  GangMembership read{.members = state.GangMembers(gang.name), .succeeded = succeeded};
  for (const GangMember& member : read.members) {
    const Gang& own = *member.pod->gang;
    if (!own.problem.empty()) {
      read.disagreement = fmt::format("pod {}: {}", member.pod->name, own.problem);
    } else if (own.size != gang.size) {
      read.disagreement = fmt::format("its members have different sizes: {} and {}",
                                      std::min(own.size, gang.size), std::max(own.size, gang.size));
    }
    if (!member.pod->UsesGpus()) {
      // kube-scheduler places a pod without GPUs without the extender.
      if (!member.placed) read.launchers.push_back(member.pod);
    } else if (member.placed) {
      ++read.running;
    } else {
      read.to_place.push_back(member.pod);
    }
  }
  return read;
}

}  // namespace synergy
