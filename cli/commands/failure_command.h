#pragma once

// `synergy failure`: why a job failed, by its logs and what Kubernetes reports (failure/).
//
// Threading: one caller at a time. Output goes to standard output.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

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
  std::string output = "table";
};

// Format a failure, or that there was none, as a table and as JSON.
std::string ToTable(const std::optional<JobFailure>& failure);
std::string ToJson(const std::optional<JobFailure>& failure);

// Reads the logs and says why the job failed; none if it did not.
Result<std::optional<JobFailure>> ReadFailure(const FailureArguments& arguments);

// Adds the command to `app`; parsing fills `arguments`. REQUIRES: `arguments` keeps its address.
CLI::App* AddFailure(CLI::App& app, FailureArguments& arguments);

Result<> RunFailure(const FailureArguments& arguments);

}  // namespace synergy::cli
