#pragma once

// `synergy simulate --plan`: the simulations for a plan, and its output.
//
// This file is separate because plan.h only decides what to simulate. Threading: one caller at a
// time. Failures: the same as RunAndReport().

#include "cli/simulate/simulate_options.h"
#include "core/result.h"

namespace synergy::cli {

// Makes a plan for each workload of `arguments`, and prints it as a table or JSON. Prints to
// standard error how the traces were read.
Result<> RunPlan(const SimulateArguments& arguments, const SimulateOptions& options);

}  // namespace synergy::cli
