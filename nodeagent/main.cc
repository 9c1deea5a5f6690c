// synergy-node-agent: gives back page cache of pods whose memory is to shrink. See
// docs/node-agent.md.

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "config/kubeconfig.h"
#include "config/node_agent_config.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/version.h"
#include "nodeagent/program.h"

namespace {

constexpr int kUsageError = 2;

struct Flags {
  std::string kubeconfig;
  std::string context;
  std::string config;
  std::string listen;
  std::string node_name;
  std::string log_level;
  std::string log_format;
};

void AddFlags(CLI::App& app, Flags& flags) {
  app.set_version_flag("--version", fmt::format("synergy-node-agent {} ({})", synergy::Version(),
                                                synergy::Commit()));
  app.add_option("--kubeconfig", flags.kubeconfig,
                 "How to reach the API server; in-cluster credentials without it");
  app.add_option("--context", flags.context,
                 "Context of the kubeconfig; its current one without it");
  app.add_option("--config", flags.config, "Configuration file (YAML, docs/node-agent.md)");
  app.add_option("--listen", flags.listen,
                 "host:port to serve on; port 0 takes a free one (default 0.0.0.0:9411)");
  app.add_option("--node-name", flags.node_name, "The node whose pods are looked after")
      ->envname("NODE_NAME");
  app.add_option("--log-level", flags.log_level, "debug, info, warn or error (default info)");
  app.add_option("--log-format", flags.log_format, "text or json (default text)");
  app.footer(
      "Flags win over the configuration file. Example:\n"
      "  synergy-node-agent --kubeconfig ~/.kube/config --node-name node-1");
}

synergy::Result<synergy::config::NodeAgentConfig> Configure(const Flags& flags) {
  synergy::config::NodeAgentConfig config;
  if (!flags.config.empty()) {
    auto loaded = synergy::config::LoadNodeAgentConfig(flags.config);
    if (!loaded) return loaded;
    config = *std::move(loaded);
  }
  if (!flags.listen.empty()) config.listen = flags.listen;
  if (!flags.node_name.empty()) config.node_name = flags.node_name;
  if (!flags.log_level.empty()) {
    const auto level = synergy::ParseLogLevel(flags.log_level);
    if (!level) return synergy::Fail(level.error());
    config.log_level = *level;
  }
  if (!flags.log_format.empty()) {
    const auto format = synergy::ParseLogFormat(flags.log_format);
    if (!format) return synergy::Fail(format.error());
    config.log_format = *format;
  }
  if (config.node_name.empty()) {
    return synergy::Fail(synergy::ErrorCode::kInvalid,
                         "which node? Give --node-name, NODE_NAME or nodeName");
  }
  return config;
}

synergy::Result<synergy::config::ClusterAccess> FindCluster(const Flags& flags) {
  if (!flags.kubeconfig.empty())
    return synergy::config::LoadKubeconfig(flags.kubeconfig, flags.context);
  const char* host = std::getenv("KUBERNETES_SERVICE_HOST");
  const char* port = std::getenv("KUBERNETES_SERVICE_PORT");
  if (host == nullptr || port == nullptr) {
    return synergy::Fail(
        synergy::ErrorCode::kInvalid,
        "not inside a cluster (KUBERNETES_SERVICE_HOST is not set): give --kubeconfig FILE");
  }
  return synergy::config::InClusterAccess(host, port);
}

int Complain(const synergy::Error& error) {
  fmt::print(stderr, "synergy-node-agent: {}\n", error.message);
  return kUsageError;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Gives back page cache of this node's pods whose memory limit is to shrink, so that the "
      "kubelet can do it");
  Flags flags;
  AddFlags(app, flags);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsageError;
  }
  const auto config = Configure(flags);
  if (!config) return Complain(config.error());
  const auto access = FindCluster(flags);
  if (!access) return Complain(access.error());

  // Blocked before any thread starts, so that this thread alone waits for them.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);

  synergy::Logger log(synergy::StderrSink(), synergy::SystemClock(), config->log_level,
                      config->log_format);
  auto program = synergy::nodeagent::Program::Start(*config, *access, synergy::SystemClock(), log);
  if (!program) {
    log.Error("cannot start", {{"error", program.error().message}});
    return EXIT_FAILURE;
  }
  log.Info("serving", {{"listen", config->listen},
                       {"port", (*program)->port()},
                       {"node", config->node_name},
                       {"api_server", access->server},
                       {"version", synergy::Version()},
                       {"commit", synergy::Commit()}});
  int signal = 0;
  sigwait(&signals, &signal);
  log.Info("shutting down", {{"signal", signal}});
  (*program)->Stop();
  log.Info("stopped");
  return EXIT_SUCCESS;
}
