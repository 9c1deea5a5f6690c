#pragma once

// `synergy-lab gavel solve`: which part of its time each job spends on each GPU type, by a policy
// of Gavel (gavel/policies/policies.h).
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

// For people and for machines; a list where the input has calls.
std::string ToText(std::span<const GavelSolved> solved);
std::string ToJson(std::span<const GavelSolved> solved, bool list);

// Adds solve to the command `gavel`; parsing fills `arguments`, which has to stay where it is.
CLI::App* AddGavelSolve(CLI::App& gavel, GavelArguments& arguments);

// kInvalid names the policy or the field that makes no sense.
Result<> RunGavelSolve(const GavelArguments& arguments);

}  // namespace synergy::cli
