#include "cli/commands/ui_command.h"

#include <cstdio>
#include <random>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/page/ui_server.h"
#include "core/clock.h"
#include "http/server/server.h"

namespace synergy::cli {
namespace {

constexpr const char* kUiHelp =
    R"(Serve a page with the present state of every node and GPU pod, for a browser on this machine. It is
read-only and uses your own permissions. Ctrl-C ends it.

examples:
  synergy ui
  synergy ui --port 8080 --context production)";

// Returns 128 random bits that cannot be guessed.
std::string Secret() {
  std::random_device device;
  std::string secret;
  for (int part = 0; part < 4; ++part) secret += fmt::format("{:08x}", device());
  return secret;
}

}  // namespace

CLI::App* AddUi(CLI::App& app, UiArguments& arguments) {
  CLI::App* ui = app.add_subcommand("ui", kUiHelp);
  ui->add_option("--port", arguments.port, "of 127.0.0.1 (default: any free port)");
  AddClusterOptions(*ui, arguments.cluster);
  AddControllerOptions(*ui, arguments.controller);
  return ui;
}

Result<> RunUi(const UiArguments& arguments) {
  auto connection = Connect(arguments.cluster);
  if (!connection) return Fail(connection.error());
  UiServer ui(*std::move(connection), arguments.controller, SystemClock());
  auto server = http::Server::Create({.port = arguments.port, .max_connections = 32});
  if (!server) return Fail(server.error());
  const std::string prefix = "/" + Secret();
  ui.AddRoutes(**server, prefix);
  if (auto started = (*server)->Start(); !started) return started;
  fmt::print("http://127.0.0.1:{}{}/\n", (*server)->port(), prefix);
  std::fflush(stdout);
  for (;;) pause();
}

}  // namespace synergy::cli
