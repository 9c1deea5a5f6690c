#pragma once

// How kube-scheduler's own scoring orders the nodes that have room for a pod, if no extender ranks
// them: plugin NodeResourcesFit by CPU and memory, both with weight 1.
//
// Threading: values.

#include <cstdint>

namespace synergy {

enum class NodeOrder : uint8_t {
  kLeastAllocated,  // the default: the node with the least requested goes first
  kMostAllocated,   // the fullest node goes first
};

}  // namespace synergy
