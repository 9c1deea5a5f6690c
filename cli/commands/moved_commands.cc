#include "cli/commands/moved_commands.h"

#include <string>
#include <vector>

namespace synergy::cli {
namespace {

[[noreturn]] void Moved(const std::string& from, const std::string& to) {
  throw CLI::ValidationError(from, "research has moved to another program: " + to);
}

// The option takes all arguments that may follow it, so that no other error comes first.
void AddMoved(CLI::App& simulate, const std::string& name, const std::string& to) {
  simulate
      .add_option_function<std::vector<std::string>>(
          name, [name, to](const std::vector<std::string>&) { Moved(name, to); })
      ->expected(0, 64)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->group("");
}

}  // namespace

void AddMovedCommands(CLI::App& app) {
  app.add_subcommand("gavel")->group("")->prefix_command()->callback(
      [] { Moved("gavel", "synergy-lab gavel"); });
}

void AddMovedOptions(CLI::App& simulate) {
  simulate
      .add_option_function<std::string>(
          "--compat",
          [](const std::string& program) { Moved("--compat", "synergy-lab " + program); })
      ->group("");
  for (const char* name : {"--placement", "--arrivals"}) {
    AddMoved(simulate, name, "synergy-lab reference");
  }
  for (const char* name : {"--schedule", "--scheme"}) {
    AddMoved(simulate, name, "synergy-lab tiresias");
  }
  AddMoved(simulate, "--solves", "synergy-lab gavel");
  for (const char* name : {"--elastic", "--types", "--prices", "--throughputs", "--type-profiles",
                           "--queue-limits", "--promote", "--lease", "--size-history"}) {
    AddMoved(simulate, name, "synergy-lab rounds");
  }
}

}  // namespace synergy::cli
