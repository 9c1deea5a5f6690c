#pragma once

// The mechanisms by name, as the command line knows them.
//
// Threading: pure.

#include <memory>
#include <span>
#include <string_view>

#include "baseline/allocator.h"
#include "core/result.h"

namespace synergy {

struct Mechanism {
  std::unique_ptr<Allocator> allocator;
  Enforcement enforcement = Enforcement::kStrict;
};

struct MechanismName {
  std::string_view name;
  std::string_view meaning;  // one line, for people
};

std::span<const MechanismName> MechanismNames();
// The error lists the names.
Result<Mechanism> MakeMechanism(std::string_view name);

}  // namespace synergy
