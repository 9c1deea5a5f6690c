#pragma once

// The commands of synergy-lab: reference, tiresias, gavel and rounds.
//
// Threading: one caller at a time. Output goes to standard output and to the requested files;
// progress and warnings go to standard error.

#include <array>
#include <string>

#include <CLI/CLI.hpp>

#include "core/result.h"
#include "research/lab/gavel_command.h"
#include "research/lab/lab_options.h"

namespace synergy::cli {

class LabCommands {
 public:
  // Adds the commands to `app`. REQUIRES: this object outlives `app`.
  explicit LabCommands(CLI::App& app);

  LabCommands(const LabCommands&) = delete;
  LabCommands& operator=(const LabCommands&) = delete;

  // Name() returns the name of the parsed command; Run() runs it. kInvalid names the option.
  std::string Name() const;
  Result<> Run() const;

 private:
  struct Command {
    CLI::App* app = nullptr;
    LabArguments arguments;
  };

  const Command& Parsed() const;

  std::array<Command, 4> commands_;
  GavelArguments gavel_;
  const CLI::App* solve_ = nullptr;
};

}  // namespace synergy::cli
