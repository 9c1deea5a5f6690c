#include "config/device_plugin_config.h"

#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace synergy::testing {
namespace {

using config::DevicePluginConfig;
using config::GpuSource;
using config::ParseDevicePluginConfig;
using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::StartsWith;

DevicePluginConfig ReadDevicePlugin(const std::string& yaml) {
  const auto config = ParseDevicePluginConfig(yaml, "plugin.yaml");
  EXPECT_TRUE(config.has_value()) << config.error().message;
  return config.value_or(DevicePluginConfig{});
}

std::string DevicePluginError(const std::string& yaml) {
  const auto config = ParseDevicePluginConfig(yaml, "plugin.yaml");
  return config ? "no error" : config.error().message;
}

TEST(DevicePluginConfigTest, AnEmptyFileGivesTheDefaultsWhichAreFine) {
  const DevicePluginConfig config = ReadDevicePlugin("");
  EXPECT_EQ(config.source, GpuSource::kAuto);
  EXPECT_TRUE(config.wait_for_nvml);
  EXPECT_EQ(config.gpu_busy_file, "");
  EXPECT_EQ(config.state_folder, "/run/synergy-device-plugin");
  EXPECT_EQ(config.nvml_library, "libnvidia-ml.so.1");
  EXPECT_EQ(config.advertisement.resource, "nvidia.com/gpu");
  EXPECT_EQ(config.advertisement.mig_strategy, MigStrategy::kNone);
  EXPECT_EQ(config.access.kind, ContainerAccessKind::kDeviceNodes);
  EXPECT_EQ(config.access.variable, "NVIDIA_VISIBLE_DEVICES");
  EXPECT_EQ(config.health.ignored_xids, HarmlessXids());
  EXPECT_EQ(config.health.quiet_period, std::chrono::minutes(1));
  EXPECT_EQ(config.plugin_folder, "/var/lib/kubelet/device-plugins");
  EXPECT_TRUE(config.node_labels);
  EXPECT_TRUE(Check(config));
}

TEST(DevicePluginConfigTest, EveryFieldIsRead) {
  const DevicePluginConfig config = ReadDevicePlugin(R"(
source: file
inventoryFile: /etc/gpus.yaml
nvml: {library: /opt/libnvidia-ml.so.1, whenMissing: exit}
gpuBusyFile: /busy.json
stateFolder: /state
resource: example.com/gpu
resources:
- {product: "*A100*", resource: example.com/a100}
migStrategy: mixed
sharing:
  timeSlicing:
    renameByDefault: true
    failRequestsGreaterThanOne: true
    resources:
    - {name: example.com/gpu, replicas: 4}
    - {name: example.com/a100, replicas: 2}
deviceListStrategy: cdi
deviceListVariable: VISIBLE
cdi: {kind: example.com/gpu, folder: /etc/cdi, command: [chroot, /host, nvidia-ctk]}
health: {probeInterval: 2s, recoverAfter: 90s, ignoredXids: [13, 94]}
kubelet: {pluginFolder: /p, podResourcesSocket: /r}
listen: 127.0.0.1:1
metricsAuthorization: true
node: {name: n1, labels: false, verifyInterval: 1h}
log: {level: debug, format: json}
)");
  EXPECT_EQ(config.state_folder, "/state");
  EXPECT_EQ(config.source, GpuSource::kFile);
  EXPECT_EQ(config.inventory_file, "/etc/gpus.yaml");
  EXPECT_EQ(config.nvml_library, "/opt/libnvidia-ml.so.1");
  EXPECT_FALSE(config.wait_for_nvml);
  EXPECT_EQ(config.gpu_busy_file, "/busy.json");
  EXPECT_EQ(config.advertisement.resource, "example.com/gpu");
  ASSERT_EQ(config.advertisement.rules.size(), 1U);
  EXPECT_EQ(config.advertisement.rules[0].product, "*A100*");
  EXPECT_EQ(config.advertisement.rules[0].resource, "example.com/a100");
  EXPECT_EQ(config.advertisement.mig_strategy, MigStrategy::kMixed);
  EXPECT_THAT(config.advertisement.replicas,
              ElementsAre(Pair("example.com/a100", 2), Pair("example.com/gpu", 4)));
  EXPECT_TRUE(config.access.one_slice_only);
  EXPECT_EQ(config.access.kind, ContainerAccessKind::kCdi);
  EXPECT_EQ(config.access.variable, "VISIBLE");
  EXPECT_EQ(config.access.cdi_kind, "example.com/gpu");
  EXPECT_EQ(config.cdi_folder, "/etc/cdi");
  EXPECT_THAT(config.cdi_command, ElementsAre("chroot", "/host", "nvidia-ctk"));
  EXPECT_EQ(config.probe_interval, milliseconds(2000));
  EXPECT_EQ(config.health.quiet_period, milliseconds(90000));
  EXPECT_THAT(config.health.ignored_xids, ElementsAre(13, 94));
  EXPECT_EQ(config.plugin_folder, "/p");
  EXPECT_EQ(config.pod_resources_socket, "/r");
  EXPECT_EQ(config.listen, "127.0.0.1:1");
  EXPECT_TRUE(config.metrics_authorization);
  EXPECT_EQ(config.node_name, "n1");
  EXPECT_FALSE(config.node_labels);
  EXPECT_EQ(config.node_verify_interval, std::chrono::hours(1));
  EXPECT_EQ(config.log_level, LogLevel::kDebug);
  EXPECT_EQ(config.log_format, LogFormat::kJson);
}

TEST(DevicePluginConfigTest, ErrorsNameFileLineAndField) {
  EXPECT_THAT(DevicePluginError("listen: \":1\"\nspeed: 9\n"), StartsWith("plugin.yaml:2: speed:"));
  EXPECT_THAT(DevicePluginError("nvml: {whenMissing: cry}"), HasSubstr("nvml.whenMissing"));
  EXPECT_THAT(DevicePluginError("source: gpu"), HasSubstr("auto, nvml, file"));
  EXPECT_THAT(DevicePluginError("deviceListStrategy: x"), HasSubstr("envvar, device-nodes, cdi"));
  EXPECT_THAT(DevicePluginError("migStrategy: x"), HasSubstr("none, single, mixed"));
  EXPECT_THAT(DevicePluginError("resources: [{product: x}]"),
              HasSubstr("needs product and resource"));
  EXPECT_THAT(DevicePluginError("health: {ignoredXids: [x]}"), HasSubstr("health.ignoredXids"));
  EXPECT_THAT(DevicePluginError("sharing: {timeSlicing: {resources: [{name: x}]}}"),
              HasSubstr("needs name and replicas"));
  EXPECT_THAT(DevicePluginError("sharing: {timeSlicing: {resources: [{name: x, replicas: 1}]}}"),
              HasSubstr("sharing.timeSlicing.resources.replicas"));
  EXPECT_THAT(DevicePluginError("sharing: {timeSlicing: {renameByDefault: false}}"),
              HasSubstr("renameByDefault: must be true"));
  EXPECT_THAT(DevicePluginError("sharing: {turns: {resources: [{name: x}]}}"),
              HasSubstr("needs name and height"));
  EXPECT_THAT(DevicePluginError("sharing: {turns: {resources: [{name: x, height: 5}]}}"),
              HasSubstr("sharing.turns.resources.height"));
  EXPECT_THAT(DevicePluginError("sharing: {mps: {}}"), HasSubstr("sharing.mps"));
  EXPECT_THAT(DevicePluginError("node: {labels: maybe}"), HasSubstr("not true or false"));
}

TEST(DevicePluginConfigTest, RefusesContradictoryOptions) {
  const auto refused = [](const std::string& yaml) {
    const Result<> checked = Check(ReadDevicePlugin(yaml));
    return checked ? std::string("not refused") : checked.error().message;
  };
  EXPECT_THAT(refused("source: file"), HasSubstr("inventory file"));
  EXPECT_THAT(refused("resource: gpu"), HasSubstr("domain/name"));
  EXPECT_THAT(refused("resource: a/b/c"), HasSubstr("domain/name"));
  EXPECT_THAT(refused("resource: \"a/../x y\""), HasSubstr("domain/name"));
  EXPECT_THAT(refused("resources: [{product: x, resource: y}]"), HasSubstr("\"y\""));
  EXPECT_THAT(refused("sharing: {timeSlicing: {resources: [{name: nvidia.com/x, replicas: 2}]}}"),
              HasSubstr("\"nvidia.com/x\" is none of this plugin's resources"));
  const std::string sliced =
      "sharing: {timeSlicing: {resources: [{name: RESOURCE, replicas: 2}]}}\n";
  const auto slices_of = [&sliced](const std::string& resource) {
    return std::string(sliced).replace(sliced.find("RESOURCE"), 8, resource);
  };
  EXPECT_THAT(refused(slices_of("nvidia.com/gpu") +
                      "resources: [{product: x, resource: nvidia.com/gpu.shared}]"),
              HasSubstr("is shared under the name of another resource"));
  const std::string longest = "nvidia.com/" + std::string(46, 'x');
  EXPECT_THAT(refused(slices_of(longest) + "resource: " + longest), HasSubstr("is too long"));
  EXPECT_THAT(refused("sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 2}]},"
                      " turns: {resources: [{name: nvidia.com/gpu, height: 2}]}}"),
              HasSubstr("\"nvidia.com/gpu\" is in both"));
  EXPECT_THAT(refused("sharing: {turns: {resources: [{name: nvidia.com/x, height: 2}]}}"),
              HasSubstr("sharing.turns.resources: \"nvidia.com/x\" is none"));
  EXPECT_THAT(refused("cdi: {kind: x}"), HasSubstr("cdi.kind"));
}

TEST(DevicePluginConfigTest, AFileThatIsNotThereIsNamed) {
  const TemporaryFolder folder;
  const auto config = config::LoadDevicePluginConfig(folder.Path("none.yaml"));
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace synergy::testing
