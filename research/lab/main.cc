// synergy-lab: reproductions of other authors' simulators, and the papers' mechanisms in rounds.

#include <cstdio>
#include <cstdlib>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/text/terminal.h"
#include "research/lab/lab_command.h"

namespace {

constexpr int kUsageError = 2;

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Research beside Synergy for Kubernetes: the papers' simulators and mechanisms");
  app.require_subcommand(1);
  const synergy::cli::LabCommands commands(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? EXIT_SUCCESS : kUsageError;
  }
  const auto done = commands.Run();
  if (done) return EXIT_SUCCESS;
  fmt::print(stderr, "synergy-lab {}: {}\n", commands.Name(),
             synergy::cli::Printable(done.error().message));
  return done.error().code == synergy::ErrorCode::kInvalid ? kUsageError : EXIT_FAILURE;
}
