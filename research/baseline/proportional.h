#pragma once

// CPU and memory in proportion to GPUs, as today's schedulers hand them out: the fair share, which
// always fits where the GPUs are free.
//
// With Enforcement::kShared (no CPU limits) this is what a Kubernetes user would do instead of
// Synergy: Burstable pods that request their proportion and use what others leave, placed as
// kube-scheduler does by default (spread: NodeResourcesFit's LeastAllocated) or packed
// (MostAllocated).
//
// Threading: as Allocator.

#include <memory>

#include "research/baseline/allocator.h"

namespace synergy {

enum class Placing : uint8_t {
  kPacked,  // the server with the fewest free GPUs that are enough
  kSpread,  // the server with the most free GPUs
};

std::unique_ptr<Allocator> MakeProportional(Placing placing);

}  // namespace synergy
