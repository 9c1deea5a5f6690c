// synergy: the command line, also installed as kubectl-synergy.

#include <cstdio>
#include <cstdlib>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#ifdef SYNERGY_STATIC
#include <nss.h>
#endif

#include "cli/commands/cluster_commands.h"
#include "cli/commands/failure_command.h"
#include "cli/commands/moved_commands.h"
#include "cli/commands/progress_command.h"
#include "cli/commands/replay_command.h"
#include "cli/commands/simulate_command.h"
#include "cli/commands/ui_command.h"
#include "cli/text/terminal.h"
#include "core/version.h"

namespace {

constexpr int kUsageError = 2;

void PrintVersion(const std::string& output) {
  if (output == "json") {
    fmt::print("{{\"version\":\"{}\",\"commit\":\"{}\"}}\n", synergy::Version(), synergy::Commit());
  } else {
    fmt::print("synergy {} ({})\n", synergy::Version(), synergy::Commit());
  }
}

int Report(const std::string& command, const synergy::Result<>& done) {
  if (done) return EXIT_SUCCESS;
  fmt::print(stderr, "synergy {}: {}\n", command, synergy::cli::Printable(done.error().message));
  return done.error().code == synergy::ErrorCode::kInvalid ? kUsageError : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
#ifdef SYNERGY_STATIC
  // A machine's nsswitch.conf may name services that are libraries for that machine's own libc;
  // these two are part of ours.
  ::__nss_configure_lookup("hosts", "files dns");
#endif
  CLI::App app("Synergy for Kubernetes: resource-sensitive scheduling of DNN training");
  app.require_subcommand(1);
  app.set_version_flag("--version",
                       fmt::format("synergy {} ({})", synergy::Version(), synergy::Commit()));
  std::string output = "text";
  CLI::App* version = app.add_subcommand("version", "Print the version and the commit");
  version->add_option("-o,--output", output, "text or json")
      ->check(CLI::IsMember({"text", "json"}));
  const synergy::cli::ClusterCommands cluster(app);
  synergy::cli::SimulateArguments simulate;
  synergy::cli::AddSimulate(app, simulate);
  synergy::cli::ProgressArguments progress;
  const CLI::App* const progresses = synergy::cli::AddProgress(app, progress);
  synergy::cli::FailureArguments failure;
  const CLI::App* const failures = synergy::cli::AddFailure(app, failure);
  synergy::cli::ReplayArguments replay;
  const CLI::App* const replays = synergy::cli::AddReplay(app, replay);
  synergy::cli::UiArguments ui;
  const CLI::App* const uis = synergy::cli::AddUi(app, ui);
  synergy::cli::AddMovedCommands(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? EXIT_SUCCESS : kUsageError;
  }
  if (version->parsed()) {
    PrintVersion(output);
    return EXIT_SUCCESS;
  }
  if (cluster.Parsed()) return Report(cluster.Name(), cluster.Run());
  if (progresses->parsed()) return Report("progress", synergy::cli::RunProgress(progress));
  if (failures->parsed()) return Report("failure", synergy::cli::RunFailure(failure));
  if (replays->parsed()) return Report("replay", synergy::cli::RunReplay(replay));
  if (uis->parsed()) return Report("ui", synergy::cli::RunUi(ui));
  return Report("simulate", synergy::cli::RunSimulate(simulate));
}
