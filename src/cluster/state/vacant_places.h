#pragma once

// Places of members that a running gang has lost. Each is counted on its node for the replacement
// of the member, so that no other pod takes its GPUs, CPU and memory meanwhile.
//
// A place is vacant from the moment at which a bound GPU pod of a gang is gone while others of the
// gang run, until its replacement has a place, no pod of the gang runs, or its time is over,
// whichever is first. The watch does not report whether the pod has failed or completed, so a place
// is unsettled until a request to the API server has found out.
//
// Threading: under ClusterState's mutex. Ownership: pods are shared and immutable. Failures: none.

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cluster/pod.h"
#include "cluster/state/cluster_version.h"
#include "cluster/state/node_ledger.h"
#include "core/clock.h"

namespace synergy {

struct VacantPlace {
  // The pod that is gone, as counted: in no gang, and with nothing that may be changed.
  std::shared_ptr<const Pod> pod;
  std::string gang;
  Instant until{};
  bool settled = false;  // a replacement is known to be needed
};

class VacantPlaces {
 public:
  // Both outlive this. Every change advances `version`.
  VacantPlaces(NodeLedger& nodes, ClusterVersion& version) : nodes_(nodes), version_(version) {}

  bool empty() const { return places_.empty(); }
  // By the uid of the pod that is gone; of all gangs, or of one.
  std::vector<VacantPlace> All() const;
  std::vector<VacantPlace> Of(const std::string& gang) const;
  void Put(VacantPlace place);
  void Settle(const std::string& uid);
  void Drop(const std::string& uid);
  void DropUntil(Instant now);
  // Drops places of a gang beyond `most`: first one on each of `nodes` that has any, then those
  // that expire first. Returns the dropped ones.
  std::vector<VacantPlace> Limit(const std::string& gang, size_t most,
                                 const std::vector<std::string>& nodes = {});

 private:
  struct Entry {
    VacantPlace place;
    NodeIndex node = 0;
  };

  NodeLedger& nodes_;
  ClusterVersion& version_;
  std::map<std::string, Entry> places_;  // by the pod's uid
};

}  // namespace synergy
