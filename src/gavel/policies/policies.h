#pragma once

// Gavel's policies by name. The names are those of the authors' programs: what a policy makes best,
// then what it knows of the GPU types: "_perf" each job's throughput on each, "_packed" that of
// pairs of jobs too, neither: all types as one.
//
// Threading: any.

#include <memory>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "gavel/policies/policy.h"

namespace synergy {

std::vector<std::string_view> GavelPolicyNames();

// kInvalid with all names for one that is not known.
Result<std::unique_ptr<GavelPolicy>> MakeGavelPolicy(std::string_view name);

}  // namespace synergy
