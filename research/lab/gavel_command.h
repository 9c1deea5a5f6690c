#pragma once

// `synergy-lab gavel solve`: the part of its time that each job spends on each GPU type, by a
// policy of Gavel (gavel/policies/policies.h).
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

// Format the answers as text and as JSON; a JSON list if the input has calls.
std::string ToText(std::span<const GavelSolved> solved);
std::string ToJson(std::span<const GavelSolved> solved, bool list);

// Adds solve to the command `gavel`; parsing fills `arguments`. REQUIRES: `arguments` keeps its
// address.
CLI::App* AddGavelSolve(CLI::App& gavel, GavelArguments& arguments);

// kInvalid names the policy or the invalid field.
Result<> RunGavelSolve(const GavelArguments& arguments);

}  // namespace synergy::cli
