// synergy: the command line, also installed as kubectl-synergy.

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#ifdef SYNERGY_STATIC
#include <nss.h>
#endif

#include "cli/commands/cluster_commands.h"
#include "cli/commands/completion.h"
#include "cli/commands/moved_commands.h"
#include "cli/commands/output.h"
#include "cli/commands/progress_command.h"
#include "cli/commands/replay_command.h"
#include "cli/commands/simulate_command.h"
#include "cli/commands/ui_command.h"
#include "cli/text/terminal.h"
#include "core/version.h"

namespace {

using synergy::Result;
using synergy::cli::Shown;

constexpr int kUsageError = 2;

constexpr const char* kCompletionHelp =
    R"(Print the script by which a shell completes this program's commands and options.

examples:
  source <(synergy completion bash)
  source <(synergy completion zsh)
  synergy completion fish | source)";

std::string VersionText() {
  return fmt::format("synergy {} ({})", synergy::Version(), synergy::Commit());
}

Shown ShowVersion() {
  return synergy::cli::ShowOne(
      {}, VersionText() + "\n",
      synergy::cli::Tree::Members{{"version", synergy::Version()}, {"commit", synergy::Commit()}});
}

std::string_view FileName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// Returns the name by which users call the program: its own, or "kubectl synergy" if kubectl runs
// it as kubectl-synergy.
std::string NameOf(const char* path) {
  return FileName(path).starts_with("kubectl") ? "kubectl synergy" : "synergy";
}

// Returns whether a shell requests completions by `synergy __complete WORD...`, or kubectl by
// `kubectl_complete-synergy WORD...`.
bool Completes(int argc, char** argv) {
  return FileName(argv[0]) == "kubectl_complete-synergy" ||
         (argc > 1 && std::string_view(argv[1]) == "__complete");
}

int PrintCompletion(const CLI::App& app, int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (!words.empty() && words.front() == "__complete") words.erase(words.begin());
  fmt::print("{}", synergy::cli::Printable(synergy::cli::ToText(
                       synergy::cli::Complete(app, words, synergy::cli::ClusterSources(words)))));
  return EXIT_SUCCESS;
}

int PrintScript(const std::string& shell) {
  const Result<std::string> script = synergy::cli::CompletionScript(shell);
  if (!script) {
    fmt::print(stderr, "error: {}\n", script.error().message);
    return kUsageError;
  }
  fmt::print("{}", *script);
  return EXIT_SUCCESS;
}

// Returns kubectl's wording for a mistake in the arguments.
std::string UsageError(const CLI::App* app, const CLI::Error& error) {
  std::string name = app->get_name();
  std::string problem = error.what();
  const std::vector<std::string> unknown = app->remaining();
  if (app->get_subcommands().empty() && !unknown.empty()) {
    problem = unknown.front().starts_with("-")
                  ? fmt::format("unknown flag: {}", unknown.front())
                  : fmt::format("unknown command \"{}\" for \"{}\"", unknown.front(), name);
  }
  for (const CLI::App* const command : app->get_subcommands()) name += " " + command->get_name();
  return fmt::format("error: {}\nSee '{} --help' for usage.\n", synergy::cli::Printable(problem),
                     name);
}

int Report(const Result<>& done) {
  if (done) return EXIT_SUCCESS;
  fmt::print(stderr, "error: {}\n", synergy::cli::Printable(done.error().message));
  return done.error().code == synergy::ErrorCode::kInvalid ? kUsageError : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
#ifdef SYNERGY_STATIC
  // A machine's nsswitch.conf may name services that are libraries for the machine's own libc. The
  // two services set here are built into this program's libc.
  ::__nss_configure_lookup("hosts", "files dns");
#endif
  CLI::App app("Synergy for Kubernetes: resource-sensitive scheduling of DNN training",
               NameOf(argv[0]));
  app.require_subcommand(1);
  app.failure_message(UsageError);
  app.set_version_flag("--version", VersionText());
  CLI::App* const version = app.add_subcommand("version", "Print the version and the commit");
  synergy::cli::OutputArguments output;
  synergy::cli::AddOutput(*version, output, synergy::cli::ShownAs::kText);
  const synergy::cli::ClusterCommands cluster(app);
  synergy::cli::SimulateArguments simulate;
  synergy::cli::AddSimulate(app, simulate);
  synergy::cli::ProgressArguments progress;
  const CLI::App* const progresses = synergy::cli::AddProgress(app, progress);
  synergy::cli::ReplayArguments replay;
  const CLI::App* const replays = synergy::cli::AddReplay(app, replay);
  synergy::cli::UiArguments ui;
  const CLI::App* const uis = synergy::cli::AddUi(app, ui);
  synergy::cli::AddMovedCommands(app);
  CLI::App* const completion = app.add_subcommand("completion", kCompletionHelp);
  std::string shell;
  completion->add_option("SHELL", shell, "bash, zsh or fish")
      ->check(CLI::IsMember(synergy::cli::CompletionShells()));
  if (Completes(argc, argv)) return PrintCompletion(app, argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? EXIT_SUCCESS : kUsageError;
  }
  if (completion->parsed()) return PrintScript(shell);
  if (version->parsed()) return Report(synergy::cli::Show(output, ShowVersion));
  if (cluster.Parsed()) return Report(cluster.Run());
  if (progresses->parsed()) return Report(synergy::cli::RunProgress(progress));
  if (replays->parsed()) return Report(synergy::cli::RunReplay(replay));
  if (uis->parsed()) return Report(synergy::cli::RunUi(ui));
  return Report(synergy::cli::RunSimulate(simulate));
}
