#pragma once

// An Xid of a pod's GPU: an error that NVIDIA's driver reported, and that the node's agent
// forwards.
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
  WallTime at{};  // when it last occurred; from an exporter: the earliest possible time

  bool operator==(const PodXid&) const = default;
};

}  // namespace synergy
