#include "cli/commands/ui_command.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "cli/page/shared_ui.h"
#include "cli/page/ui_server.h"
#include "config/listen_address.h"
#include "core/clock.h"
#include "core/log.h"
#include "http/server/server.h"

namespace synergy::cli {
namespace {

constexpr const char* kUiHelp =
    R"(Serve a page that shows every node and GPU pod as it is now, for a browser on this machine. The page
is read-only and uses your own permissions. Ctrl-C ends it.

With --listen, serve the page over TLS to all users who send a bearer token of the cluster. It shows
what the token's owner may read; your own permissions are not used.

examples:
  synergy ui
  synergy ui --port 8080 --context production
  synergy ui --listen :8443 --certificate tls.crt --key tls.key)";

constexpr std::chrono::seconds kGrace{5};

// Returns 128 unpredictable random bits.
std::string Secret() {
  std::random_device device;
  std::string secret;
  for (int part = 0; part < 4; ++part) secret += fmt::format("{:08x}", device());
  return secret;
}

// Serves until a signal arrives. `begun` is called once the port is bound.
template <class Begun>
Result<> Serve(http::Server& server, Begun begun) {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  // Block the signals before the server starts threads, because these inherit the mask.
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  if (auto started = server.Start(); !started) return started;
  begun(server.port());
  std::fflush(stdout);
  int signal = 0;
  sigwait(&ends, &signal);
  server.Stop(kGrace);
  return {};
}

Result<> ServeOwnUser(const UiArguments& arguments) {
  auto connection = Connect(arguments.cluster);
  if (!connection) return Fail(connection.error());
  UiServer ui(*std::move(connection), arguments.controller, SystemClock());
  auto server = http::Server::Create({.port = arguments.port, .max_connections = 32});
  if (!server) return Fail(server.error());
  const std::string prefix = "/" + Secret();
  ui.AddRoutes(**server, prefix);
  return Serve(**server,
               [&prefix](uint16_t port) { fmt::print("http://127.0.0.1:{}{}/\n", port, prefix); });
}

Result<> ServeTokens(const UiArguments& arguments) {
  const auto address = config::ParseListenAddress(arguments.listen);
  if (!address) return Fail(ErrorCode::kInvalid, "--listen: " + address.error().message);
  auto connect = FindServer(arguments.cluster);
  if (!connect) return Fail(connect.error());
  Logger log(StderrSink(), SystemClock(), LogLevel::kInfo, LogFormat::kText);
  SharedUi ui(*std::move(connect), arguments.controller, SystemClock(), log);
  auto server = http::Server::Create(
      {.host = address->host,
       .port = address->port,
       .certificate_file = arguments.certificate_file,
       .key_file = arguments.key_file,
       .self_signed = true,
       .max_body_bytes = http::kSmallBody,
       .max_connections = 128,
       // `kubectl port-forward` connects from the loopback address.
       .exempt_loopback = false,
       .on_problem = [&log](std::string_view problem) { log.Warn(problem, {}); }});
  if (!server) return Fail(server.error());
  ui.AddRoutes(**server);
  return Serve(**server, [&address](uint16_t port) {
    std::string host = address->host.empty() ? "localhost" : address->host;
    if (host.find(':') != std::string::npos) host = "[" + host + "]";
    fmt::print("https://{}:{}/\n", host, port);
  });
}

}  // namespace

CLI::App* AddUi(CLI::App& app, UiArguments& arguments) {
  CLI::App* ui = app.add_subcommand("ui", kUiHelp);
  CLI::Option* const port =
      ui->add_option("--port", arguments.port, "port on 127.0.0.1 (default: a free one)");
  CLI::Option* const listen =
      ui->add_option("--listen", arguments.listen,
                     "HOST:PORT on which other users are served, each with their own bearer token")
          ->excludes(port);
  CLI::Option* const certificate = ui->add_option(
      "--certificate", arguments.certificate_file,
      "a file with the certificate for --listen (default: self-signed, which browsers warn of)");
  CLI::Option* const key =
      ui->add_option("--key", arguments.key_file, "a file with the certificate's key");
  certificate->needs(listen)->needs(key);
  key->needs(certificate);
  AddClusterOptions(*ui, arguments.cluster);
  AddControllerOptions(*ui, arguments.controller);
  return ui;
}

Result<> RunUi(const UiArguments& arguments) {
  return arguments.listen.empty() ? ServeOwnUser(arguments) : ServeTokens(arguments);
}

}  // namespace synergy::cli
