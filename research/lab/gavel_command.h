#pragma once

// `synergy-lab gavel solve` prints which fraction of its time each job spends on each GPU type, by
// a policy of Gavel (gavel/policies/policies.h).
//
// Threading: one caller at a time. Output goes to standard output.

#include <span>
#include <string>

#include <CLI/CLI.hpp>

#include "core/result.h"
#include "research/lab/gavel_input.h"

namespace synergy::cli {

struct GavelArguments {
  std::string policy;
  std::string input;
  std::string output = "text";
};

struct GavelSolved {
  GavelProblem problem;
  GavelAnswer answer;
};

// Format the answers as text and as JSON. The JSON is a list if the input has calls.
std::string ToText(std::span<const GavelSolved> solved);
std::string ToJson(std::span<const GavelSolved> solved, bool list);

// Adds the command solve to `gavel`; parsing fills `arguments`. REQUIRES: the address of
// `arguments` does not change.
CLI::App* AddGavelSolve(CLI::App& gavel, GavelArguments& arguments);

// Returns kInvalid, which names the policy or the invalid field.
Result<> RunGavelSolve(const GavelArguments& arguments);

}  // namespace synergy::cli
