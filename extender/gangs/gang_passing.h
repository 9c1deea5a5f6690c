#pragma once

// Decides for each member of a gang whether GPU reservations let it go to a node, so that no member
// walks through a reservation that another one respects.
//
// Threading: one owner. Ownership: refers to the snapshot and the terms, which must outlive it.

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"
#include "cluster/state/reservation.h"
#include "engine/reservations/passing_check.h"

namespace synergy::extender {

class GangPassing {
 public:
  // `vacant`: the places of the gang's lost members, which stay open to their replacements.
  GangPassing(const ClusterSnapshot& snapshot, const PassingTerms& terms,
              const std::vector<Reservation>& vacant);

  // Returns the reservation that keeps the member off the node; null if it may go there.
  const GpuReservation* RefusedBy(const std::shared_ptr<const Pod>& member, const NodeState& node);

 private:
  struct Check {
    std::shared_ptr<const Pod> pod;
    PassingCheck passing;
  };

  const ClusterSnapshot& snapshot_;
  const PassingTerms& terms_;
  std::set<std::string_view> reserved_;  // nodes with reserved GPUs
  std::set<std::string> vacant_;         // nodes with vacant places
  std::map<std::string, Check> checks_;  // by the member's uid
};

}  // namespace synergy::extender
