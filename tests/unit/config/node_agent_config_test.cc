#include "config/node_agent_config.h"

#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace synergy::testing {
namespace {

using config::NodeAgentConfig;
using config::ParseNodeAgentConfig;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

NodeAgentConfig ReadNodeAgent(const std::string& yaml) {
  const Result<NodeAgentConfig> config = ParseNodeAgentConfig(yaml, "agent.yaml");
  EXPECT_TRUE(config.has_value()) << config.error().message;
  return config.value_or(NodeAgentConfig{});
}

std::string NodeAgentError(const std::string& yaml) {
  const Result<NodeAgentConfig> config = ParseNodeAgentConfig(yaml, "agent.yaml");
  return config ? "no error" : config.error().message;
}

TEST(NodeAgentConfigTest, StorageIsDividedOnlyWhereReadsAreMeasured) {
  EXPECT_TRUE(ReadNodeAgent("divideStorage: true").divide_storage);
  EXPECT_THAT(NodeAgentError("divideStorage: true\nmeasureProgress: false"),
              HasSubstr("divideStorage: needs measureProgress: true"));
}

TEST(NodeAgentConfigTest, AnEmptyFileGivesTheDefaults) {
  const NodeAgentConfig config = ReadNodeAgent("");
  EXPECT_EQ(config.listen, ":9411");
  EXPECT_EQ(config.cgroup_folder, "/sys/fs/cgroup");
  EXPECT_EQ(config.kubelet_cgroup_root, "/");
  EXPECT_TRUE(config.measure_progress);
  EXPECT_FALSE(config.divide_storage);
  EXPECT_EQ(config.pod_log_folder, "/var/log/pods");
  EXPECT_EQ(config.pods_folder, "");
  EXPECT_EQ(config.state_folder, "/run/synergy-node-agent");
  EXPECT_EQ(config.transient_unit_folder, "/run/systemd/transient");
  EXPECT_EQ(config.margin_percent, 10);
  EXPECT_EQ(config.margin_most, MiB(64));
  EXPECT_EQ(config.check_interval, milliseconds(20));
  EXPECT_EQ(config.give_up_after, seconds(90));
}

TEST(NodeAgentConfigTest, EveryFieldIsRead) {
  const NodeAgentConfig config = ReadNodeAgent(R"(
listen: 127.0.0.1:0
metricsAuthorization: true
progressListen: 127.0.0.1:0
tlsCertificateFile: /tls/tls.crt
tlsKeyFile: /tls/tls.key
clientCaFile: /tls/ca.crt
clientName: synergy-controller.synergy-system.svc
nodeName: node-1
schedulerName: mine
gpuResource: amd.com/gpu
cgroupFolder: /host/cgroup/
kubeletCgroupRoot: /pods
margin: {percent: 5, most: 16Mi}
measureProgress: false
podLogFolder: /logs/
podsFolder: /pods/
gpuBusyFile: /busy.json
podResourcesSocket: /kubelet.sock
dcgm: {namespaces: [a, b], daemonSet: "x-*", port: 9500, path: /m}
stateFolder: /state/
transientUnitFolder: /units
checkInterval: 50ms
giveUpAfter: 2m
stalenessLimit: 30s
shutdownGrace: 1s
log: {level: debug, format: json}
)");
  EXPECT_TRUE(config.metrics_authorization);
  EXPECT_EQ(config.listen, "127.0.0.1:0");
  EXPECT_EQ(config.progress_listen, "127.0.0.1:0");
  EXPECT_EQ(config.tls_certificate_file, "/tls/tls.crt");
  EXPECT_EQ(config.tls_key_file, "/tls/tls.key");
  EXPECT_EQ(config.client_ca_file, "/tls/ca.crt");
  EXPECT_EQ(config.client_name, "synergy-controller.synergy-system.svc");
  EXPECT_EQ(config.node_name, "node-1");
  EXPECT_EQ(config.scheduler_name, "mine");
  EXPECT_EQ(config.gpu_resource, "amd.com/gpu");
  EXPECT_EQ(config.cgroup_folder, "/host/cgroup");
  EXPECT_EQ(config.kubelet_cgroup_root, "/pods");
  EXPECT_EQ(config.margin_percent, 5);
  EXPECT_EQ(config.margin_most, MiB(16));
  EXPECT_FALSE(config.measure_progress);
  EXPECT_EQ(config.pod_log_folder, "/logs");
  EXPECT_EQ(config.pods_folder, "/pods");
  EXPECT_EQ(config.transient_unit_folder, "/units");
  EXPECT_EQ(config.pod_resources_socket, "/kubelet.sock");
  EXPECT_THAT(config.dcgm.namespaces, ElementsAre("a", "b"));
  EXPECT_EQ(config.dcgm.daemon_set, "x-*");
  EXPECT_EQ(config.dcgm.port, 9500);
  EXPECT_EQ(config.dcgm.path, "/m");
  EXPECT_EQ(config.gpu_busy_file, "/busy.json");
  EXPECT_EQ(config.state_folder, "/state");
  EXPECT_EQ(config.check_interval, milliseconds(50));
  EXPECT_EQ(config.give_up_after, seconds(120));
  EXPECT_EQ(config.staleness_limit, seconds(30));
  EXPECT_EQ(config.shutdown_grace, seconds(1));
  EXPECT_EQ(config.log_level, LogLevel::kDebug);
  EXPECT_EQ(config.log_format, LogFormat::kJson);
}

// Clients that read progress must be authenticated.
TEST(NodeAgentConfigTest, ServesProgressOverTlsOnly) {
  EXPECT_EQ(ReadNodeAgent("").progress_listen, "");
  EXPECT_EQ(ReadNodeAgent("progressListen: ''\n").progress_listen, "");
  EXPECT_THAT(NodeAgentError("progressListen: :9412\n"),
              HasSubstr("progressListen: needs tlsCertificateFile"));
  EXPECT_THAT(NodeAgentError("progressListen: :9412\ntlsCertificateFile: a\ntlsKeyFile: b\n"
                             "clientCaFile: c\n"),
              HasSubstr("progressListen: needs"));
  EXPECT_THAT(NodeAgentError("progressListen: here\n"), HasSubstr("progressListen"));
}

TEST(NodeAgentConfigTest, ErrorsNameLineAndField) {
  EXPECT_THAT(NodeAgentError("listen: 127.0.0.1:1\nlitsen: x\n"),
              StartsWith("agent.yaml:2: litsen: unknown field"));
  EXPECT_THAT(NodeAgentError("cgroupFolder: sys\n"), HasSubstr("cgroupFolder"));
  EXPECT_THAT(NodeAgentError("kubeletCgroupRoot: /../x\n"), HasSubstr("kubeletCgroupRoot"));
  EXPECT_THAT(NodeAgentError("margin: {percent: 51}\n"), HasSubstr("margin.percent"));
  EXPECT_THAT(NodeAgentError("margin: {most: much}\n"), HasSubstr("margin.most"));
  EXPECT_THAT(NodeAgentError("checkInterval: 11s\n"),
              HasSubstr("checkInterval: must be at most 10s"));
  EXPECT_THAT(NodeAgentError("stalenessLimit: 1s\n"),
              HasSubstr("stalenessLimit: must be at least 3s"));
  EXPECT_THAT(NodeAgentError("log: {level: loud}\n"), HasSubstr("log.level"));
  EXPECT_THAT(NodeAgentError("a: [\n"), StartsWith("agent.yaml:"));
}

TEST(NodeAgentConfigTest, AMissingFileIsNamed) {
  const TemporaryFolder folder;
  const auto config = config::LoadNodeAgentConfig(folder.Path("none"));
  ASSERT_FALSE(config);
  EXPECT_THAT(config.error().message, HasSubstr(folder.Path("none")));
}

}  // namespace
}  // namespace synergy::testing
