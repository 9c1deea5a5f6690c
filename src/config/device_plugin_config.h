#pragma once

// The YAML file of synergy-device-plugin; docs/internals/device-plugin.md describes each field.
//
// Threading: pure, except for reading the file.
// Failures: kInvalid with file, line and field.

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "core/log.h"
#include "core/result.h"
#include "inventory/advertisement.h"
#include "inventory/container_access.h"
#include "inventory/health.h"

namespace synergy::config {

// The source of the list of GPUs.
enum class GpuSource {
  kAuto,  // the inventory file if there is one, otherwise NVML
  kNvml,
  kFile,
};
Result<GpuSource> ParseGpuSource(std::string_view text);

// Parses "envvar", "device-nodes" or "cdi".
Result<ContainerAccessKind> ParseDeviceListStrategy(std::string_view text);

struct DevicePluginConfig {
  GpuSource source = GpuSource::kAuto;
  std::string inventory_file;
  std::string nvml_library = "libnvidia-ml.so.1";
  bool wait_for_nvml = true;  // if the library is missing: wait for it, or else exit
  AdvertisementRules advertisement;
  ContainerAccessRules access;
  std::string cdi_folder = "/var/run/cdi";
  // The program that generates a complete CDI specification; if it is missing, the plugin writes a
  // specification of its own.
  std::vector<std::string> cdi_command = {"nvidia-ctk"};
  GpuHealthRules health;
  std::chrono::milliseconds probe_interval{5000};
  std::string plugin_folder = "/var/lib/kubelet/device-plugins";
  std::string pod_resources_socket = "/var/lib/kubelet/pod-resources/kubelet.sock";
  // The folder that keeps the record of registrations across restarts of the plugin, until the next
  // boot; empty: the record is not kept.
  std::string state_folder = "/run/synergy-device-plugin";
  std::string pod_uid;  // of the plugin's own pod; empty: none, or unknown
  std::string listen = ":9410";
  // Whether /metrics requires a token of an authorized account (docs/security.md); `listen` then
  // uses TLS. Requires node_name: without it, the plugin uses no API server, and so cannot check
  // tokens.
  bool metrics_authorization = false;
  std::string probe_socket;  // set only by a flag; empty: none (daemon/probes.h)
  // The file that reports to the node agent how long GPUs were busy; empty: none.
  std::string gpu_busy_file;
  std::string node_name;  // empty: write nothing to the Node
  bool node_labels = true;
  // How often to read the Node again, in case another client changed what the plugin wrote.
  std::chrono::milliseconds node_verify_interval{600000};
  LogLevel log_level = LogLevel::kInfo;
  LogFormat log_format = LogFormat::kText;
};

// Returns the JSON Schema of the fields that are values of the chart (field_kinds.h).
std::string DevicePluginConfigSchema();
Result<DevicePluginConfig> LoadDevicePluginConfig(const std::string& file);
// `name` is the file's name in errors.
Result<DevicePluginConfig> ParseDevicePluginConfig(const std::string& yaml,
                                                   const std::string& name);

// Returns an error for settings that exclude each other, from the file or from flags.
Result<> Check(const DevicePluginConfig& config);

}  // namespace synergy::config
