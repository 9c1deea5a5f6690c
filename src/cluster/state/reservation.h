#pragma once

// A place on a node that is reserved for a pod that is not bound there. Its share is counted on the
// node, so that no other pod takes it.
//
// Threading: values.

#include <cstdint>
#include <memory>
#include <string>

#include "cluster/pod.h"
#include "core/clock.h"

namespace synergy {

enum class ReservationKind : uint8_t {
  kTuner,        // the tuner's, for a waiting pod: written on the pod (Waiting::kept_node)
  kGang,         // from ClusterState::Reserve(): all members of a gang have one, or none
  kReplacement,  // for the pod that will replace a lost member of a gang (replacements.h)
};

struct Reservation {
  ReservationKind kind = ReservationKind::kTuner;
  // The pod as counted on its `node`. For a replacement, it is the lost pod without its gang and
  // its fungible container.
  std::shared_ptr<const Pod> pod;
  std::string gang;  // for a member of this gang; empty: for a single pod
  Instant until{};
  bool settled = true;  // a pod is known to need the place
};

}  // namespace synergy
