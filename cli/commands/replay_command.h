#pragma once

// `synergy replay`: goes through recordings of the programs in the cluster again
// (record/replay.h), and says whether every decision comes out as it did.
//
// Threading: one caller at a time. Output goes to standard output.

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "core/result.h"
#include "record/replay.h"

namespace synergy::cli {

struct ReplayArguments {
  std::vector<std::string> files;
  std::string output = "text";
};

// A file's, for people and for machines.
std::string ToText(const std::string& file, const record::ReplayReport& report);
std::string ToJson(const std::string& file, const record::ReplayReport& report);

// Adds the command to `app`; parsing fills `arguments`, which has to stay where it is.
CLI::App* AddReplay(CLI::App& app, ReplayArguments& arguments);

// kInvalid names the file and the line that is none of a recording. kConflict: some decision came
// out differently.
Result<> RunReplay(const ReplayArguments& arguments);

}  // namespace synergy::cli
