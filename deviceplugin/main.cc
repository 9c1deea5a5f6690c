// synergy-device-plugin: tells the kubelet, Prometheus and the extender of a node's GPUs. See
// docs/device-plugin.md.

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "config/config_file.h"
#include "config/device_plugin_config.h"
#include "config/kubeconfig.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/version.h"
#include "deviceplugin/program.h"

namespace {

using synergy::Result;
using synergy::config::DevicePluginConfig;

constexpr int kUsageError = 2;

struct Flags {
  std::string config;
  std::string kubeconfig;
  std::string context;
  std::string source;
  std::string inventory;
  std::string nvml_library;
  std::string when_nvml_missing;
  std::string resource;
  std::string mig_strategy;
  std::string device_list_strategy;
  std::string plugin_folder;
  std::string pod_resources_socket;
  std::string listen;
  std::string node_name;
  std::string log_level;
  std::string log_format;
  bool one_shot = false;
  std::string output = "json";
};

void AddFlags(CLI::App& app, Flags& flags) {
  app.set_version_flag("--version", fmt::format("synergy-device-plugin {} ({})", synergy::Version(),
                                                synergy::Commit()));
  app.add_option("--config", flags.config, "Configuration file (YAML, docs/device-plugin.md)");
  app.add_option("--source", flags.source,
                 "Where GPUs are seen: nvml, file, or auto (the file if there is one named)");
  app.add_option("--inventory", flags.inventory, "Inventory file (YAML)");
  app.add_option("--nvml-library", flags.nvml_library, "Default libnvidia-ml.so.1");
  app.add_option("--when-nvml-missing", flags.when_nvml_missing, "wait (default) or exit");
  app.add_option("--resource", flags.resource, "Resource name (default nvidia.com/gpu)");
  app.add_option("--mig-strategy", flags.mig_strategy, "none (default), single or mixed");
  app.add_option("--device-list-strategy", flags.device_list_strategy,
                 "envvar (default), device-nodes or cdi");
  app.add_option("--plugin-folder", flags.plugin_folder, "Default /var/lib/kubelet/device-plugins");
  app.add_option("--pod-resources-socket", flags.pod_resources_socket,
                 "Default /var/lib/kubelet/pod-resources/kubelet.sock");
  app.add_option("--listen", flags.listen,
                 "host:port of metrics and probes; port 0 takes a free one (default 0.0.0.0:9410)");
  app.add_option("--node-name", flags.node_name,
                 "Own Node, which is given labels and the inventory (default $NODE_NAME; without "
                 "one the API server is not asked)");
  app.add_option("--kubeconfig", flags.kubeconfig,
                 "How to reach the API server; in-cluster credentials without it");
  app.add_option("--context", flags.context, "Context of the kubeconfig");
  app.add_flag("--one-shot", flags.one_shot, "Print the inventory and end");
  app.add_option("--output", flags.output, "Of --one-shot: json")->check(CLI::IsMember({"json"}));
  app.add_option("--log-level", flags.log_level, "debug, info, warn or error (default info)");
  app.add_option("--log-format", flags.log_format, "text or json (default text)");
  app.footer(
      "Flags win over the configuration file, which SIGHUP reads again. Example:\n"
      "  synergy-device-plugin --source file --inventory gpus.yaml --one-shot");
}

// What `parse` makes of a flag that was given.
template <class Parse, class Out>
Result<> Set(const std::string& flag, const std::string& text, Parse parse, Out& out) {
  if (text.empty()) return {};
  auto parsed = parse(text);
  if (!parsed)
    return synergy::Fail(parsed.error().code, fmt::format("{}: {}", flag, parsed.error().message));
  out = *parsed;
  return {};
}

Result<bool> ParseWait(const std::string& text) {
  if (text == "wait") return true;
  if (text == "exit") return false;
  return synergy::Fail(synergy::ErrorCode::kInvalid,
                       fmt::format("\"{}\" is not wait or exit", text));
}

Result<DevicePluginConfig> Configure(const Flags& flags) {
  DevicePluginConfig config;
  if (!flags.config.empty()) {
    auto loaded = synergy::config::LoadDevicePluginConfig(flags.config);
    if (!loaded) return loaded;
    config = *std::move(loaded);
  }
  const auto text = [](const std::string& value) -> Result<std::string> { return value; };
  const char* node_name = std::getenv("NODE_NAME");
  if (config.node_name.empty() && node_name != nullptr) config.node_name = node_name;
  const Result<> results[] = {
      Set("--source", flags.source, synergy::config::ParseGpuSource, config.source),
      Set("--inventory", flags.inventory, text, config.inventory_file),
      Set("--nvml-library", flags.nvml_library, text, config.nvml_library),
      Set("--when-nvml-missing", flags.when_nvml_missing, ParseWait, config.wait_for_nvml),
      Set("--resource", flags.resource, text, config.advertisement.resource),
      Set("--mig-strategy", flags.mig_strategy, synergy::inventory::ParseMigStrategy,
          config.advertisement.mig_strategy),
      Set("--device-list-strategy", flags.device_list_strategy,
          synergy::config::ParseDeviceListStrategy, config.access.kind),
      Set("--plugin-folder", flags.plugin_folder, text, config.plugin_folder),
      Set("--pod-resources-socket", flags.pod_resources_socket, text, config.pod_resources_socket),
      Set("--listen", flags.listen, text, config.listen),
      Set("--node-name", flags.node_name, text, config.node_name),
      Set("--log-level", flags.log_level, synergy::ParseLogLevel, config.log_level),
      Set("--log-format", flags.log_format, synergy::ParseLogFormat, config.log_format),
      synergy::config::Check(config)};
  for (const Result<>& result : results)
    if (!result) return synergy::Fail(result.error());
  return config;
}

Result<synergy::config::ClusterAccess> FindCluster(const Flags& flags) {
  if (!flags.kubeconfig.empty())
    return synergy::config::LoadKubeconfig(flags.kubeconfig, flags.context);
  const char* host = std::getenv("KUBERNETES_SERVICE_HOST");
  const char* port = std::getenv("KUBERNETES_SERVICE_PORT");
  if (host == nullptr || port == nullptr) {
    return synergy::Fail(
        synergy::ErrorCode::kInvalid,
        "not inside a cluster (KUBERNETES_SERVICE_HOST is not set): give --kubeconfig FILE, or no "
        "--node-name");
  }
  return synergy::config::InClusterAccess(host, port);
}

int Complain(const synergy::Error& error, int status) {
  fmt::print(stderr, "synergy-device-plugin: {}\n", error.message);
  return status;
}

int PrintOnce(const DevicePluginConfig& config) {
  const Result<std::string> report = synergy::deviceplugin::ReportOnce(config);
  if (!report) return Complain(report.error(), EXIT_FAILURE);
  fmt::print("{}\n", *report);
  return EXIT_SUCCESS;
}

// Until SIGTERM or SIGINT, which is returned.
int ServeSignals(const sigset_t& signals, const Flags& flags,
                 synergy::deviceplugin::Program& program, synergy::Logger& log) {
  for (;;) {
    int signal = 0;
    sigwait(&signals, &signal);
    if (signal != SIGHUP) return signal;
    const Result<DevicePluginConfig> config = Configure(flags);
    if (config) {
      program.Reload(*config);
      log.Info("configuration read again");
    } else {
      log.Error("configuration not changed", {{"error", config.error().message}});
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Tells the kubelet, Prometheus and the extender of this node's GPUs");
  Flags flags;
  AddFlags(app, flags);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsageError;
  }
  const Result<DevicePluginConfig> config = Configure(flags);
  if (!config) return Complain(config.error(), kUsageError);
  if (flags.one_shot) return PrintOnce(*config);
  std::optional<synergy::config::ClusterAccess> access;
  if (!config->node_name.empty()) {
    auto found = FindCluster(flags);
    if (!found) return Complain(found.error(), kUsageError);
    access = *std::move(found);
  }

  // Blocked before any thread starts, so that this thread alone waits for them.
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);

  synergy::Logger log(synergy::StderrSink(), synergy::SystemClock(), config->log_level,
                      config->log_format);
  auto program =
      synergy::deviceplugin::Program::Start(*config, access, synergy::SystemClock(), log);
  if (!program) {
    log.Error("cannot start", {{"error", program.error().message}});
    return EXIT_FAILURE;
  }
  log.Info("serving", {{"listen", config->listen},
                       {"port", (*program)->port()},
                       {"node", config->node_name},
                       {"version", synergy::Version()},
                       {"commit", synergy::Commit()}});
  const int signal = ServeSignals(signals, flags, **program, log);
  log.Info("shutting down", {{"signal", signal}});
  (*program)->Stop();
  log.Info("stopped");
  return EXIT_SUCCESS;
}
