#pragma once

// `synergy failures FILE`: why a job failed, from its logs and the reports of Kubernetes
// (failure/).
//
// Threading: one caller at a time. Output goes to standard output.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/commands/output.h"
#include "cli/text/shown.h"
#include "core/result.h"
#include "failure/classify.h"

namespace synergy::cli {

struct FailureArguments {
  std::vector<std::string> files;
  std::optional<int> exit_code;
  std::string reason;
  std::string message;
  std::vector<std::string> conditions;
  std::vector<std::string> xids;  // "79@30"
  std::optional<int64_t> iterations;
  bool shared_gpu = false;
  std::vector<std::string> acts;  // "freeze@30"
};

// Returns a failure, or the statement that there was none.
Shown ShowFailure(const std::optional<JobFailure>& failure);

// Reads the logs and returns why the job failed; nullopt if it did not.
Result<std::optional<JobFailure>> ReadFailure(const FailureArguments& arguments);

// Adds FILE, which it returns, and the options that need it; parsing fills `arguments`. REQUIRES:
// `arguments` stays at its address.
CLI::Option* AddFailureOptions(CLI::App& command, FailureArguments& arguments);

Result<> RunFailure(const FailureArguments& arguments, const OutputArguments& output);

}  // namespace synergy::cli
