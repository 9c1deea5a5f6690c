#include "config/node_agent_config.h"

#include <chrono>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "config/field_kinds.h"
#include "config/text_file.h"
#include "config/yaml_fields.h"

namespace synergy::config {
namespace {

// Removes a final slash, so that paths can be appended.
YamlField Folder(std::string& out) {
  const auto read = [&out](const YAML::Node& node, const std::string& field) {
    out = Scalar(node, field);
    if (!out.starts_with('/') || out.find("..") != std::string::npos)
      Reject(node, fmt::format("{}: \"{}\" is not an absolute path", field, out));
    while (out.size() > 1 && out.ends_with('/')) out.pop_back();
  };
  return {read, kTextSchema};
}

Fields FieldsOf(NodeAgentConfig& config) {
  return {{"listen", NotInChart(Address(config.listen))},
          {"metricsAuthorization", NotInChart(Truth(config.metrics_authorization))},
          {"progressListen", NotInChart(AddressOrNone(config.progress_listen))},
          {"tlsCertificateFile", NotInChart(Text(config.tls_certificate_file))},
          {"tlsKeyFile", NotInChart(Text(config.tls_key_file))},
          {"clientCaFile", NotInChart(Text(config.client_ca_file))},
          {"clientName", NotInChart(Text(config.client_name))},
          {"nodeName", NotInChart(Text(config.node_name))},
          {"schedulerName", NotInChart(NotEmpty(config.scheduler_name))},
          {"gpuResource", NotInChart(GpuResource(config.gpu_resource))},
          {"cgroupFolder", NotInChart(Folder(config.cgroup_folder))},
          {"kubeletCgroupRoot", Folder(config.kubelet_cgroup_root)},
          {"confineWrites", NotInChart(Truth(config.confine_writes))},
          {"margin", Section({{"percent", WholeNumber(config.margin_percent, 0, 50)},
                              {"most", Size(config.margin_most)}})},
          {"keepCache", Truth(config.keep_cache)},
          {"measureProgress", Truth(config.measure_progress)},
          {"divideStorage", NotInChart(Truth(config.divide_storage))},
          {"podLogFolder", NotInChart(Folder(config.pod_log_folder))},
          {"podsFolder", NotInChart(Folder(config.pods_folder))},
          {"gpuBusyFile", NotInChart(Text(config.gpu_busy_file))},
          {"podResourcesSocket", NotInChart(Text(config.pod_resources_socket))},
          {"dcgm", NotInChart(Section({{"namespaces", Texts(config.dcgm.namespaces)},
                                       {"daemonSet", NotEmpty(config.dcgm.daemon_set)},
                                       {"port", WholeNumber(config.dcgm.port, 1, 65535)},
                                       {"path", NotEmpty(config.dcgm.path)}}))},
          {"turns", NotInChart(Section({{"enabled", Truth(config.turns)}}))},
          {"stateFolder", NotInChart(Folder(config.state_folder))},
          {"transientUnitFolder", Folder(config.transient_unit_folder)},
          {"evictionThreshold", Size(config.eviction_threshold)},
          {"checkInterval", Duration(config.check_interval, {.most = std::chrono::seconds(10)})},
          {"giveUpAfter", Duration(config.give_up_after)},
          {"stalenessLimit", StalenessLimit(config.staleness_limit)},
          {"shutdownGrace", Duration(config.shutdown_grace)},
          {"log", NotInChart(Log(config.log_level, config.log_format))}};
}

NodeAgentConfig ReadNodeAgent(const YAML::Node& root) {
  NodeAgentConfig config;
  ReadFields(root, "", FieldsOf(config));
  if (!config.progress_listen.empty() &&
      (config.tls_certificate_file.empty() || config.tls_key_file.empty() ||
       config.client_ca_file.empty() || config.client_name.empty())) {
    Reject(root,
           "progressListen: needs tlsCertificateFile, tlsKeyFile, clientCaFile and clientName");
  }
  if (config.divide_storage && !config.measure_progress)
    Reject(root, "divideStorage: needs measureProgress: true, which measures reads and waits");
  if (config.turns && config.progress_listen.empty())
    Reject(root, "turns.enabled: needs progressListen, where the controller renews turns");
  return config;
}

}  // namespace

std::string NodeAgentConfigSchema() {
  NodeAgentConfig config;
  return SchemaOf(FieldsOf(config));
}

Result<NodeAgentConfig> ParseNodeAgentConfig(const std::string& yaml, const std::string& name) {
  return ParseFile(yaml, name, ReadNodeAgent);
}

Result<NodeAgentConfig> LoadNodeAgentConfig(const std::string& file) {
  return ParseTextFile(file, ParseNodeAgentConfig);
}

}  // namespace synergy::config
