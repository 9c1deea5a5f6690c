#pragma once

// Finds out how many members of waiting gangs have Succeeded, for decisions about room: such a gang
// is complete without them, but the watch has only living pods.
//
// This file is separate because it queries the API server, while the rest of the watched cluster
// follows watches.
//
// Threading: one thread calls Look(). Failures: if the API server does not answer, none are known
// to have Succeeded, and the gang counts as incomplete until the next query.

#include <map>
#include <stop_token>
#include <string>
#include <utility>

#include "cluster/state/cluster_state.h"
#include "core/clock.h"
#include "kube/succeeded_members.h"

namespace synergy::controller {

class SucceededCounter {
 public:
  // `state` and `clock` must outlive this object.
  SucceededCounter(ClusterState& state, kube::CountSucceeded count, const Clock& clock)
      : state_(state), count_(std::move(count)), clock_(clock) {}

  // Counts for gangs that wait although members are missing, each twice a minute. Call it about
  // once a second. It queries the API server, for about two seconds at most.
  void Look(const std::stop_token& stop);

 private:
  ClusterState& state_;
  const kube::CountSucceeded count_;
  const Clock& clock_;
  std::map<std::string, Instant> asked_;  // by the gang's name
};

}  // namespace synergy::controller
