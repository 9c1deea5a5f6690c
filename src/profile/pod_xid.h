#pragma once

// An Xid of a pod's GPU: an error that NVIDIA's driver reported, as the agent of the pod's node
// passes it on.
//
// Threading: values.

#include <cstdint>
#include <string>

#include "core/clock.h"

namespace synergy {

struct PodXid {
  std::string uid;  // the pod's
  std::string container;
  int32_t xid = 0;
  WallTime at{};  // when it last came; from an exporter, the earliest time when it may have come

  bool operator==(const PodXid&) const = default;
};

}  // namespace synergy
