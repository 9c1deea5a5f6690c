#pragma once

// Synergy-Tune (OSDI'22, section 4.2), as published and in our version.
//
// All runnable jobs run, however little CPU and memory there are. In decreasing order of demand,
// each job is placed on the server that holds its demand and has the least left. A job that no
// server can hold is placed on as few servers as possible, with shares in proportion to its GPUs
// there. If the demand does not fit, the job gets its fair share. If that does not fit either,
// other jobs on the server give back the amounts above their fair shares.
//
// Our version first places the jobs that gain most from their demand, chooses servers by
// best_fit.h, and then divides each server again (re_division.h).
//
// Threading: the same as Allocator.

#include <cstdint>
#include <memory>

#include "research/baseline/allocator.h"

namespace synergy {

enum class TuneVariant : uint8_t {
  kPublished,
  kOurs,
};

std::unique_ptr<Allocator> MakeTune(TuneVariant variant);

}  // namespace synergy
