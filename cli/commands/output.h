#pragma once

// How a command prints what it shows: --output, --no-headers and --watch.
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

  // Whether the format is one for programs, in which an empty list says enough.
  bool IsTree() const { return format == "json" || format == "yaml"; }
};

// Decides on the formats that are possible.
enum class ShownAs {
  kText,         // table, json, yaml
  kObject,       // also name
  kList,         // also wide
  kUnnamedList,  // as a list, without name
};

// Returns the names of the formats, for people: "table, json or yaml".
std::string FormatsText(ShownAs as);

// Adds --output with the formats of `as`. Parsing fills `output`, which has to outlive `command`.
void AddOutput(CLI::App& command, OutputArguments& output, ShownAs as);
// Adds --no-headers, in the same way.
void AddNoHeaders(CLI::App& command, OutputArguments& output);
// Adds --watch, in the same way.
void AddWatch(CLI::App& command, OutputArguments& output);

// kInvalid if the format is none of those, for commands that show one thing or another.
Result<> CheckFormat(const OutputArguments& output, ShownAs as);

using ReadShown = std::function<Result<Shown>()>;

// Prints what `read` returns; with --watch, prints its changes until the process ends.
Result<> Show(const OutputArguments& output, const ReadShown& read);

// The shortest time between two reads of --watch, and the longest while they fail.
inline constexpr std::chrono::seconds kShortestWatch{2};
inline constexpr std::chrono::seconds kLongestWatch{32};

// Where Show() prints to. `out` returns false if nothing more can be printed.
struct Sinks {
  std::function<bool(std::string_view)> out;
  std::function<void(std::string_view)> note;
};

// Like Show(), until `stop`. A read that fails later is noted and done again if the cluster was
// only away; otherwise its error is returned.
Result<> ShowUntil(const OutputArguments& output, const ReadShown& read, const Sinks& sinks,
                   const Clock& clock, const std::stop_token& stop);

}  // namespace synergy::cli
