#pragma once

// `synergy progress`: recognises a training's progress in its log (progress/).
//
// Threading: one caller at a time. Output goes to standard output.

#include <string>

#include <CLI/CLI.hpp>

#include "cli/commands/output.h"
#include "cli/text/shown.h"
#include "core/result.h"
#include "progress/progress_meter.h"

namespace synergy::cli {

struct ProgressArguments {
  std::string file;
  std::string pattern;
  OutputArguments output;
};

Shown ShowProgress(const TrainingProgress& progress);

// Reads the log from beginning to end, plain or gzip-compressed; "-" is standard input.
Result<TrainingProgress> ReadProgress(const ProgressArguments& arguments);

// Adds the command to `app`; parsing fills `arguments`. REQUIRES: `arguments` stays at its address.
CLI::App* AddProgress(CLI::App& app, ProgressArguments& arguments);

Result<> RunProgress(const ProgressArguments& arguments);

}  // namespace synergy::cli
