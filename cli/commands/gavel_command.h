#pragma once

// `synergy gavel solve`: which part of its time each job spends on each GPU type, by a policy of
// Gavel (gavel/policies/policies.h).
//
// Threading: one caller at a time. Output goes to standard output.

#include <span>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/research/gavel_input.h"
#include "core/result.h"

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

// Adds the command to `app`; parsing fills `arguments`, which has to stay where it is.
CLI::App* AddGavel(CLI::App& app, GavelArguments& arguments);

// kInvalid names the policy or the field that makes no sense.
Result<> RunGavel(const GavelArguments& arguments);

}  // namespace synergy::cli
