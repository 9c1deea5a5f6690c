#pragma once

// Gives CPU and memory in proportion to GPUs, as today's schedulers do: the fair share, which
// always fits if the GPUs are free.
//
// With Enforcement::kShared (no CPU limits) it models Kubernetes without Synergy: Burstable pods
// request their proportional share and use what others leave. They are placed as kube-scheduler
// does by default (spread: NodeResourcesFit's LeastAllocated) or packed (MostAllocated).
//
// Threading: the same as Allocator.

#include <memory>

#include "research/baseline/allocator.h"

namespace synergy {

enum class Placing : uint8_t {
  kPacked,  // the server with the fewest free GPUs that suffice
  kSpread,  // the server with the most free GPUs
};

std::unique_ptr<Allocator> MakeProportional(Placing placing);

}  // namespace synergy
