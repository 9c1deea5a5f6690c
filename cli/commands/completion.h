#pragma once

// Completion of the command line in shells: the words that may come next, from the tree of commands
// and options itself, and the scripts by which shells ask for them.
//
// Threading: pure, but for the sources. Failures: none; what is not known is not completed.

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
  bool files = false;  // names of files are possible, too
};

// Return the values that an option may have at present, by its name: "--context". `index` counts
// those that a positional argument has already.
using ValueSources = std::map<std::string, std::function<std::vector<std::string>(size_t index)>>;

// Completes the last of the words that follow the program's name; it may be empty.
Completion Complete(const CLI::App& app, const std::vector<std::string>& words,
                    const ValueSources& sources);

// Returns the sources of the options that name what is in the kubeconfigs and in the cluster, both
// chosen by the options among `words`.
ValueSources ClusterSources(const std::vector<std::string>& words);

// Formats a completion as programs made with Cobra do, for shells and for kubectl's plugins: a line
// for each candidate, with its description after a tab, and ":4" or, with files, ":0".
std::string ToText(const Completion& completion);

// Returns the names of the shells.
std::vector<std::string> CompletionShells();
// Returns the script that makes that shell ask. kInvalid names the shells.
Result<std::string> CompletionScript(std::string_view shell);

}  // namespace synergy::cli
