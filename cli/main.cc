// synergy: the command line, also installed as kubectl-synergy.

#include <cstdio>
#include <cstdlib>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

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

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Synergy for Kubernetes: resource-sensitive scheduling of DNN training");
  app.require_subcommand(1);
  std::string output = "text";
  CLI::App* version = app.add_subcommand("version", "Print the version and the commit");
  version->add_option("-o,--output", output, "text or json")
      ->check(CLI::IsMember({"text", "json"}));
  version->callback([&output] { PrintVersion(output); });
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? EXIT_SUCCESS : kUsageError;
  }
  return EXIT_SUCCESS;
}
