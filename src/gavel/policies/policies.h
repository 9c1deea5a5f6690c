#pragma once

// Gavel's policies, which decide the fraction of its time that each job spends on each GPU type
// (problem.h), and the table of the authors' names. type_policies.h has the product's names.
//
// Each of the authors' names consists of the objective and the view of the GPU types: "_perf" for
// each job's throughput on each type, "_packed" for the throughput of pairs as well, and no suffix
// if all types are alike.
//
// Threading: a policy has one caller at a time, because some keep state between calls; any thread
// may call the rest. Failures: kInvalid names the field of the problem that the policy requires or
// does not support; kUnavailable if the solver gave up.

#include <memory>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "gavel/problem.h"

namespace synergy {

class GavelPolicy {
 public:
  virtual ~GavelPolicy() = default;

  // REQUIRES: `problem` has at least one job, and GPUs.
  virtual Result<GavelAnswer> Allocate(const GavelProblem& problem) = 0;
};

// Makes policies from the authors' names: MakeGavelPolicy(), or MakeJobOrder() (job_order.h) in
// programs without the solvers.
using GavelPolicyMaker = Result<std::unique_ptr<GavelPolicy>> (*)(std::string_view name);

std::vector<std::string_view> GavelPolicyNames();

// Returns kInvalid, which lists all names, for an unknown name.
Result<std::unique_ptr<GavelPolicy>> MakeGavelPolicy(std::string_view name);

}  // namespace synergy
