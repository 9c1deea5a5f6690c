#pragma once

// synergy-device-plugin's YAML file; docs/device-plugin.md says what each field is for.
//
// Threading: pure but for reading the file. Failures: kInvalid with file, line and field.

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

// Where the GPUs are seen.
enum class GpuSource {
  kAuto,  // the inventory file if one is named, else NVML
  kNvml,
  kFile,
};
Result<GpuSource> ParseGpuSource(std::string_view text);

// "envvar", "device-nodes" or "cdi".
Result<ContainerAccessKind> ParseDeviceListStrategy(std::string_view text);

struct DevicePluginConfig {
  GpuSource source = GpuSource::kAuto;
  std::string inventory_file;
  std::string nvml_library = "libnvidia-ml.so.1";
  bool wait_for_nvml = true;  // without the library: wait for it, or exit
  AdvertisementRules advertisement;
  ContainerAccessRules access;
  std::string cdi_folder = "/var/run/cdi";
  // What writes a complete specification; where there is no such program, we write our own.
  std::vector<std::string> cdi_command = {"nvidia-ctk"};
  GpuHealthRules health;
  std::chrono::milliseconds probe_interval{5000};
  std::string plugin_folder = "/var/lib/kubelet/device-plugins";
  std::string pod_resources_socket = "/var/lib/kubelet/pod-resources/kubelet.sock";
  std::string listen = "0.0.0.0:9410";
  // /metrics takes a token of an account that may get it (docs/security.md); `listen` has TLS then.
  // Needs node_name: without it there is no API server to ask.
  bool metrics_authorization = false;
  // Where the node agent is told how long GPUs were busy; empty: it is not told.
  std::string gpu_busy_file;
  std::string node_name;  // empty: nothing is written to the Node
  bool node_labels = true;
  // The Node is read again, in case somebody else has changed what we wrote.
  std::chrono::milliseconds node_verify_interval{600000};
  LogLevel log_level = LogLevel::kInfo;
  LogFormat log_format = LogFormat::kText;
};

Result<DevicePluginConfig> LoadDevicePluginConfig(const std::string& file);
// `name` stands for the file in errors.
Result<DevicePluginConfig> ParseDevicePluginConfig(const std::string& yaml,
                                                   const std::string& name);

// What cannot be together, whether it came from the file or from flags.
Result<> Check(const DevicePluginConfig& config);

}  // namespace synergy::config
