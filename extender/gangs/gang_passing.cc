#include "extender/gangs/gang_passing.h"

namespace synergy::extender {

GangPassing::GangPassing(const ClusterSnapshot& snapshot, const PassingTerms& terms,
                         const std::vector<Reservation>& vacant)
    : snapshot_(snapshot), terms_(terms) {
  for (const GpuReservation& reservation : terms_.reservations) {
    for (const GpuReservation::Place& place : reservation.places) reserved_.insert(place.node);
  }
  for (const Reservation& place : vacant) vacant_.insert(place.pod->node);
}

const GpuReservation* GangPassing::RefusedBy(const std::shared_ptr<const Pod>& member,
                                             const NodeState& node) {
  if (!node.exists || !reserved_.contains(node.detail->name) || vacant_.contains(node.detail->name))
    return nullptr;
  auto check = checks_.find(member->uid);
  if (check == checks_.end()) {
    check =
        checks_.emplace(member->uid, Check{member, PassingCheck(snapshot_, *member, terms_)}).first;
  }
  return check->second.passing.RefusedBy(node);
}

}  // namespace synergy::extender
