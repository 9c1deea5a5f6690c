#pragma once

// How a command prints its result: --output, --no-headers and --watch.
//
// Threading: one caller at a time. Output goes to standard output, notes to standard error.

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/text/shown.h"
#include "core/clock.h"
#include "core/result.h"

namespace synergy::cli {

struct OutputArguments {
  std::string format = "table";
  bool no_headings = false;
  bool watch = false;

  // Returns whether the format is for programs, for which an empty list is clear enough.
  bool IsTree() const { return format == "json" || format == "yaml"; }
};

// Determines which formats are possible.
enum class ShownAs {
  kText,         // table, json, yaml
  kObject,       // also name
  kList,         // also wide
  kUnnamedList,  // like a list, but without name
};

// Returns the names of the formats, for people: "table, json or yaml".
std::string FormatsText(ShownAs as);

// Adds --output with the formats of `as`. Parsing fills `output`, which must outlive `command`.
void AddOutput(CLI::App& command, OutputArguments& output, ShownAs as);
// Adds --no-headers, in the same way.
void AddNoHeaders(CLI::App& command, OutputArguments& output);
// Adds --watch, in the same way.
void AddWatch(CLI::App& command, OutputArguments& output);

// Returns kInvalid if the format is not one of the formats of `as`; for commands that show
// different kinds of results.
Result<> CheckFormat(const OutputArguments& output, ShownAs as);

using ReadShown = std::function<Result<Shown>()>;

// Prints the result of `read`; with --watch, also prints its changes until the process ends.
Result<> Show(const OutputArguments& output, const ReadShown& read);

// The shortest time between two reads of --watch, and the longest time while they fail.
inline constexpr std::chrono::seconds kShortestWatch{2};
inline constexpr std::chrono::seconds kLongestWatch{32};

// Where Show() prints. `out` returns false if nothing more can be printed.
struct Sinks {
  std::function<bool(std::string_view)> out;
  std::function<void(std::string_view)> note;
};

// Does what Show() does, until `stop`. If a later read fails with an error that may pass, such as
// an unreachable cluster, notes the error and repeats the read. Returns any other error.
Result<> ShowUntil(const OutputArguments& output, const ReadShown& read, const Sinks& sinks,
                   const Clock& clock, const std::stop_token& stop);

}  // namespace synergy::cli
