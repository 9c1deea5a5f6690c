#pragma once

// Completes command lines in shells. It finds the words that may come next in the tree of commands
// and options, and contains the scripts with which shells request these words.
//
// Threading: pure, except for the sources. Failures: none; a word after unknown options or commands
// is not completed.

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "core/result.h"

namespace synergy::cli {

struct Candidate {
  std::string word;
  std::string description = {};

  bool operator==(const Candidate&) const = default;
};

struct Completion {
  std::vector<Candidate> candidates;
  bool files = false;  // names of files are also possible
};

// Return the present values for an option, by its name, such as "--context". `index`: how many
// values a positional argument already has.
using ValueSources = std::map<std::string, std::function<std::vector<std::string>(size_t index)>>;

// Completes the last of the words after the program's name; it may be empty.
Completion Complete(const CLI::App& app, const std::vector<std::string>& words,
                    const ValueSources& sources);

// Returns sources for the options that name entries of the kubeconfigs or objects of the cluster,
// both selected by the options among `words`.
ValueSources ClusterSources(const std::vector<std::string>& words);

// Formats a completion as programs built with Cobra do, for shells and for kubectl's plugins. Each
// candidate has a line, with its description after a tab; the last line is ":4" or, with files,
// ":0".
std::string ToText(const Completion& completion);

// Returns the names of the shells.
std::vector<std::string> CompletionShells();
// Returns the script that makes that shell request completions; for any other shell, kInvalid with
// the names of the shells.
Result<std::string> CompletionScript(std::string_view shell);

}  // namespace synergy::cli
