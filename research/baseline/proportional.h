#pragma once

// CPU and memory in proportion to GPUs, as in today's schedulers: the fair share, which always fits
// if the GPUs are free.
//
// With Enforcement::kShared (no CPU limits) this models a Kubernetes user without Synergy:
// Burstable pods that request their proportion and use what others leave, placed as kube-scheduler
// does by default (spread: NodeResourcesFit's LeastAllocated) or packed (MostAllocated).
//
// Threading: as Allocator.

#include <memory>

#include "research/baseline/allocator.h"

namespace synergy {

enum class Placing : uint8_t {
  kPacked,  // the server with the fewest sufficient free GPUs
  kSpread,  // the server with the most free GPUs
};

std::unique_ptr<Allocator> MakeProportional(Placing placing);

}  // namespace synergy
