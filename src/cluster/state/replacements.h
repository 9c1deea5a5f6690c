#pragma once

// Reservations for the pods that will replace lost members of running gangs.
//
// A place is reserved when a bound GPU pod of a gang is gone while others of the gang run. The
// reservation ends when the replacement has a place, no pod of the gang runs, or its deadline
// passes, whichever comes first. The watch does not report whether the pod failed or completed, so
// a reservation is unsettled until the API server has answered a request about the pod.
//
// Threading: under ClusterState's mutex. Ownership: pods are shared and immutable. Failures: none.

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cluster/state/cluster_version.h"
#include "cluster/state/node_ledger.h"
#include "cluster/state/reservation.h"
#include "core/clock.h"

namespace synergy {

class Replacements {
 public:
  // Both arguments must outlive this object. Every change advances `version`.
  Replacements(NodeLedger& nodes, ClusterVersion& version) : nodes_(nodes), version_(version) {}

  bool empty() const { return places_.empty(); }
  // Return reservations by the uid of the pod that is gone, of all gangs or of one.
  std::vector<Reservation> All() const;
  std::vector<Reservation> Of(const std::string& gang) const;
  void Put(Reservation place);
  void Settle(const std::string& uid);
  void Drop(const std::string& uid);
  void DropUntil(Instant now);
  // Drops a gang's places beyond `most`: first one on each of `nodes` that has any, then those that
  // expire first. Returns the dropped places.
  std::vector<Reservation> Limit(const std::string& gang, size_t most,
                                 const std::vector<std::string>& nodes = {});

 private:
  struct Entry {
    Reservation place;
    NodeIndex node = 0;
  };

  NodeLedger& nodes_;
  ClusterVersion& version_;
  std::map<std::string, Entry> places_;  // by the pod's uid
};

}  // namespace synergy
