#pragma once

// `synergy replay`: replays recordings of the programs in the cluster (record/replay.h), and
// reports whether every decision is the same.
//
// Threading: one caller at a time. Output goes to standard output.

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/commands/output.h"
#include "cli/text/shown.h"
#include "core/result.h"
#include "record/replay.h"

namespace synergy::cli {

struct ReplayArguments {
  std::vector<std::string> files;
  OutputArguments output;
};

ShownObject ShowReplay(const std::string& file, const record::ReplayReport& report);

// Adds the command to `app`; parsing fills `arguments`. REQUIRES: `arguments` stays at its address.
CLI::App* AddReplay(CLI::App& app, ReplayArguments& arguments);

// Returns kInvalid, with file and line, for a line that is not part of a recording, and kConflict
// if some decision differs.
Result<> RunReplay(const ReplayArguments& arguments);

}  // namespace synergy::cli
