#pragma once

// Synergy-Tune (OSDI'22, section 4.2), and what we make of it.
//
// The runnable jobs all run, whatever CPU and memory there are. In decreasing order of demand, each
// goes to the server with the least left that just holds its demand; a job that no server holds
// goes to the fewest servers, with shares in proportion to its GPUs. Where the demand does not fit,
// the fair share does; where not even that, jobs on the server give back what they hold above
// theirs.
//
// Ours takes the jobs that gain most from their demand first, chooses servers by best_fit.h, and
// then divides each server again (re_division.h).
//
// Threading: as Allocator.

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
