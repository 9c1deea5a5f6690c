// synergy-device-plugin: reports a node's GPUs to the kubelet, Prometheus and the extender. See
// docs/internals/device-plugin.md.

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "config/device_plugin_config.h"
#include "core/clock.h"
#include "daemon/command_line.h"
#include "daemon/run.h"
#include "deviceplugin/daemon.h"

namespace {

using synergy::Result;
using synergy::config::DevicePluginConfig;

Result<bool> ParseWait(const std::string& text) {
  if (text == "wait") return true;
  if (text == "exit") return false;
  return synergy::Fail(synergy::ErrorCode::kInvalid,
                       fmt::format("\"{}\" is not wait or exit", text));
}

Result<std::string> ParseOutput(const std::string& text) {
  if (text == "json") return text;
  return synergy::Fail(synergy::ErrorCode::kInvalid, fmt::format("\"{}\" is not json", text));
}

void AddFlags(synergy::daemon::CommandLine& line, DevicePluginConfig& config) {
  line.SetConfig(config, synergy::config::LoadDevicePluginConfig);
  line.Add("--source", config.source, synergy::config::ParseGpuSource,
           "Source of the GPUs: nvml, file, or auto (the file if one is named)");
  line.Add("--inventory", config.inventory_file, "Inventory file (YAML)");
  line.Add("--nvml-library", config.nvml_library, "Default libnvidia-ml.so.1");
  line.Add("--when-nvml-missing", config.wait_for_nvml, ParseWait, "wait (default) or exit");
  line.Add("--resource", config.advertisement.resource, "Resource name (default nvidia.com/gpu)");
  line.Add("--mig-strategy", config.advertisement.mig_strategy, synergy::ParseMigStrategy,
           "none (default), single or mixed");
  line.Add("--device-list-strategy", config.access.kind, synergy::config::ParseDeviceListStrategy,
           "envvar, device-nodes (default) or cdi");
  line.Add("--plugin-folder", config.plugin_folder, "Default /var/lib/kubelet/device-plugins");
  line.Add("--pod-resources-socket", config.pod_resources_socket,
           "Default /var/lib/kubelet/pod-resources/kubelet.sock");
  line.Add("--state-folder", config.state_folder,
           "Where the plugin keeps what it registered (default /run/synergy-device-plugin)");
  line.AddWithVariable(
      "--pod-uid", "POD_UID", config.pod_uid,
      "UID of the plugin's pod; a plugin that has stopped does not start again in the same pod");
  line.Add("--listen", config.listen,
           "host:port of metrics and probes; port 0 takes a free one (default :9410)");
  line.AddMetricsAuthorization(config.metrics_authorization);
  line.AddProbeSocket(config.probe_socket);
  line.Add("--gpu-busy-file", config.gpu_busy_file,
           "File that tells the node agent how long GPUs are busy (default: none)");
  line.AddWithVariable("--node-name", "NODE_NAME", config.node_name,
                       "The plugin's Node, which gets labels and the inventory; without it, no API "
                       "server is called");
  line.AddCluster();
}

}  // namespace

int main(int argc, char** argv) {
  DevicePluginConfig config;
  bool one_shot = false;
  std::string output = "json";
  synergy::daemon::CommandLine line(
      {.program = "synergy-device-plugin",
       .description =
           "Offers this node's GPUs to the kubelet, and reports their health. SIGHUP reads "
           "the configuration file again",
       .config_page = "docs/internals/device-plugin.md",
       .example = "--source file --inventory gpus.yaml --one-shot"});
  AddFlags(line, config);
  line.AddSwitch("--one-shot", one_shot, "Print the inventory and exit");
  line.Add("--output", output, ParseOutput, "Format of --one-shot: json");

  const auto health = [&config] {
    return synergy::daemon::HealthAddress{config.listen, config.metrics_authorization};
  };
  if (const auto status = line.Parse(argc, argv, health)) return *status;
  if (const Result<> checked = Check(config); !checked) return line.Refuse(checked.error());
  if (one_shot) {
    const Result<std::string> report = synergy::deviceplugin::ReportOnce(config);
    if (!report) return line.Refuse(report.error(), EXIT_FAILURE);
    fmt::print("{}\n", *report);
    return EXIT_SUCCESS;
  }
  std::optional<synergy::config::ClusterAccess> access;
  if (!config.node_name.empty()) {
    auto found = line.FindCluster();
    if (!found) return line.Refuse(found.error());
    access = *std::move(found);
  }

  const auto reload = [&](synergy::deviceplugin::Daemon& daemon, synergy::Logger& log) {
    Result<> read = line.Reread();
    if (read) read = Check(config);
    if (!read) return log.Error("configuration not changed", {{"error", read.error().message}});
    daemon.Reload(config);
    log.Info("configuration read again");
  };
  return synergy::daemon::Run(
      config.log_level, config.log_format,
      [&](synergy::Logger& log) {
        return synergy::deviceplugin::Daemon::Start(config, access, synergy::SystemClock(), log);
      },
      reload);
}
