#pragma once

// `synergy simulate --plan`: the simulations for a plan, and its output.
//
// Apart because plan.h only decides what to simulate.
// Threading: one caller at a time. Failures: as RunAndReport().

#include "cli/simulate/simulate_options.h"
#include "core/result.h"

namespace synergy::cli {

// Makes a plan for each workload of `arguments`, and prints it as a table or JSON. How the traces
// were read is printed to standard error.
Result<> RunPlan(const SimulateArguments& arguments, const SimulateOptions& options);

}  // namespace synergy::cli
