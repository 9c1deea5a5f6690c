#pragma once

// Mechanisms that give a job its whole demand in this round, or nothing (OSDI'22, section 4.1 and
// figure 12). GPUs stay idle if CPU or memory runs out, and jobs with large demands starve. A
// demand above the capacity of every server is cut to that of the largest.
//
// Threading: the same as Allocator.

#include <memory>

#include "research/baseline/allocator.h"

namespace synergy {

enum class GreedyOrder : uint8_t {
  kPolicy,  // first fit in the policy's order
  kDrf,     // dominant resource fairness (NSDI'11), each job a user of its own: the job with the
            // least dominant share first; first fit
  kTetris,  // multi-resource packing (SIGCOMM'14): jobs and servers by alignment, the dot product
            // of the demand and of what is free
};

std::unique_ptr<Allocator> MakeGreedy(GreedyOrder order);

}  // namespace synergy
