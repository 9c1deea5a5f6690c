#pragma once

// Makes mechanisms by their names on the command line.
//
// Threading: pure.

#include <memory>
#include <span>
#include <string_view>

#include "core/result.h"
#include "research/baseline/allocator.h"
#include "sim/simulation_run.h"

namespace synergy {

struct Mechanism {
  std::unique_ptr<Allocator> allocator;
  Enforcement enforcement = Enforcement::kStrict;
};

std::span<const MechanismName> MechanismNames();
// The error lists the names.
Result<Mechanism> MakeMechanism(std::string_view name);

}  // namespace synergy
