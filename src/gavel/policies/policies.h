#pragma once

// Gavel's policies by name. The names are those of the authors' programs: the objective, then the
// view of the GPU types: "_perf" for each job's throughput on each type, "_packed" for the
// throughput of pairs as well, no suffix if all types are alike.
//
// Threading: any.

#include <memory>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "gavel/policies/policy.h"

namespace synergy {

std::vector<std::string_view> GavelPolicyNames();

// kInvalid lists all names.
Result<std::unique_ptr<GavelPolicy>> MakeGavelPolicy(std::string_view name);

}  // namespace synergy
