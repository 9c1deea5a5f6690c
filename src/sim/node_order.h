#pragma once

// How kube-scheduler's own scoring orders the nodes that have room for a pod, if no extender ranks
// them. The plugin NodeResourcesFit scores CPU and memory, both with weight 1.
//
// Threading: values.

#include <cstdint>

namespace synergy {

enum class NodeOrder : uint8_t {
  kLeastAllocated,  // the default: the emptiest node goes first
  kMostAllocated,   // the fullest node goes first
};

}  // namespace synergy
