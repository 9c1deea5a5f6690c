#include "config/device_plugin_config.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "config/field_kinds.h"
#include "config/text_file.h"
#include "config/yaml_fields.h"
#include "config/yaml_values.h"

namespace synergy::config {
namespace {

constexpr size_t kMostRules = 64;
constexpr int64_t kLeastReplicas = 2;
constexpr size_t kMostXids = 256;
constexpr int64_t kHighestXid = 1'000'000;

// Parses "wait" or "exit".
YamlField Missing(bool& wait) {
  const auto read = [&wait](const YAML::Node& node, const std::string& field) {
    const std::string text = Scalar(node, field);
    if (text != "wait" && text != "exit")
      Reject(node, fmt::format("{}: \"{}\" is not wait or exit", field, text));
    wait = text == "wait";
  };
  return {read, WordSchema({"wait", "exit"})};
}

YamlField Rules(std::vector<GpuResourceRule>& rules) {
  const auto fields = [](GpuResourceRule& rule) {
    return Fields{{"product", Text(rule.product)}, {"resource", Text(rule.resource)}};
  };
  const auto read = [fields, &rules](const YAML::Node& node, const std::string& field) {
    if (!node.IsSequence()) Reject(node, field + ": expected a list");
    if (node.size() > kMostRules) Reject(node, fmt::format("{}: more than {}", field, kMostRules));
    for (const YAML::Node& entry : node) {
      GpuResourceRule rule;
      ReadFields(entry, field + ".", fields(rule));
      if (rule.product.empty() || rule.resource.empty())
        Reject(entry, field + ": an entry needs product and resource");
      rules.push_back(rule);
    }
  };
  GpuResourceRule unused;
  return {read, ListSchema(SchemaOf(fields(unused)))};
}

// Reads a list of shared resources, each with a number (`member`). If a name is repeated, its last
// number counts.
YamlField Shared(const std::string& member, int most,
                 std::map<std::string, int, std::less<>>& numbers) {
  struct Entry {
    std::string name;
    int64_t number = 0;
  };
  const auto fields = [member, most](Entry& entry) {
    return Fields{{"name", Text(entry.name)},
                  {member, WholeNumber(entry.number, kLeastReplicas, most)}};
  };
  const auto read = [member, fields, &numbers](const YAML::Node& node, const std::string& field) {
    if (!node.IsSequence()) Reject(node, field + ": expected a list");
    if (node.size() > kMostRules) Reject(node, fmt::format("{}: more than {}", field, kMostRules));
    for (const YAML::Node& element : node) {
      Entry entry;
      ReadFields(element, field + ".", fields(entry));
      if (entry.name.empty() || entry.number == 0)
        Reject(element, fmt::format("{}: an entry needs name and {}", field, member));
      numbers[entry.name] = static_cast<int>(entry.number);
    }
  };
  Entry unused;
  return {read, ListSchema(SchemaOf(fields(unused)))};
}

// Reads a field whose only valid value is true.
YamlField Renamed() {
  const auto read = [](const YAML::Node& node, const std::string& field) {
    if (ToTruth(node, field)) return;
    Reject(node, field +
                     ": must be true, because a pod that requests a GPU must not get a slice: "
                     "slices are offered as NAME.shared");
  };
  return {read, R"({"const":true})"};
}

YamlField Xids(std::set<uint64_t>& out) {
  const auto read = [&out](const YAML::Node& node, const std::string& field) {
    if (!node.IsSequence()) Reject(node, field + ": expected a list");
    if (node.size() > kMostXids) Reject(node, fmt::format("{}: more than {}", field, kMostXids));
    out.clear();
    for (const YAML::Node& entry : node)
      out.insert(static_cast<uint64_t>(ToInteger(entry, field, 0, kHighestXid)));
  };
  return {read,
          ListSchema(fmt::format(R"({{"type":"integer","minimum":0,"maximum":{}}})", kHighestXid))};
}

Fields FieldsOf(DevicePluginConfig& config, std::chrono::milliseconds& quiet) {
  return {
      {"source", Parsed(ParseGpuSource, config.source, {"auto", "nvml", "file"})},
      {"inventoryFile", NotInChart(Text(config.inventory_file))},
      {"nvml", Section({{"library", Text(config.nvml_library)},
                        {"whenMissing", Missing(config.wait_for_nvml)}})},
      {"resource", Text(config.advertisement.resource)},
      {"resources", Rules(config.advertisement.rules)},
      {"migStrategy",
       Parsed(ParseMigStrategy, config.advertisement.mig_strategy, {"none", "single", "mixed"})},
      {"sharing",
       Section({{"timeSlicing",
                 Section({{"renameByDefault", Renamed()},
                          {"failRequestsGreaterThanOne", Truth(config.access.one_slice_only)},
                          {"resources",
                           Shared("replicas", kMostReplicas, config.advertisement.replicas)}})},
                {"turns", Section({{"resources",
                                    Shared("height", kMostTurns, config.advertisement.turns)}})}})},
      {"deviceListStrategy",
       Parsed(ParseDeviceListStrategy, config.access.kind, {"envvar", "device-nodes", "cdi"})},
      {"deviceListVariable", Text(config.access.variable)},
      {"cdi", Section({{"kind", Text(config.access.cdi_kind)},
                       {"folder", Text(config.cdi_folder)},
                       {"command", Texts(config.cdi_command)}})},
      {"health", Section({{"probeInterval", Duration(config.probe_interval)},
                          {"recoverAfter", Duration(quiet)},
                          {"ignoredXids", Xids(config.health.ignored_xids)}})},
      {"kubelet", NotInChart(Section({{"pluginFolder", Text(config.plugin_folder)},
                                      {"podResourcesSocket", Text(config.pod_resources_socket)}}))},
      {"stateFolder", NotInChart(Text(config.state_folder))},
      {"listen", NotInChart(Address(config.listen))},
      {"metricsAuthorization", NotInChart(Truth(config.metrics_authorization))},
      {"gpuBusyFile", NotInChart(Text(config.gpu_busy_file))},
      {"node", Section({{"name", NotInChart(Text(config.node_name))},
                        {"labels", Truth(config.node_labels)},
                        {"verifyInterval", Duration(config.node_verify_interval)}})},
      {"log", NotInChart(Log(config.log_level, config.log_format))}};
}

DevicePluginConfig ReadDevicePlugin(const YAML::Node& root) {
  DevicePluginConfig config;
  std::chrono::milliseconds quiet{0};
  ReadFields(root, "", FieldsOf(config, quiet));
  if (quiet.count() > 0) config.health.quiet_period = quiet;
  return config;
}

Result<> CheckResource(const std::string& resource) {
  const size_t slash = resource.find('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == resource.size() ||
      resource.size() > kLongestDeviceId ||
      resource.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                 "-_./") != std::string::npos ||
      resource.find('/', slash + 1) != std::string::npos) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("resource \"{}\": the name of an extended resource has the form "
                            "domain/name, as in nvidia.com/gpu",
                            resource));
  }
  return {};
}

}  // namespace

std::string DevicePluginConfigSchema() {
  DevicePluginConfig config;
  std::chrono::milliseconds quiet{0};
  return SchemaOf(FieldsOf(config, quiet));
}

Result<GpuSource> ParseGpuSource(std::string_view text) {
  if (text == "auto") return GpuSource::kAuto;
  if (text == "nvml") return GpuSource::kNvml;
  if (text == "file") return GpuSource::kFile;
  return Fail(ErrorCode::kInvalid, fmt::format("\"{}\" is not one of auto, nvml, file", text));
}

Result<ContainerAccessKind> ParseDeviceListStrategy(std::string_view text) {
  if (text == "envvar") return ContainerAccessKind::kEnvironment;
  if (text == "device-nodes") return ContainerAccessKind::kDeviceNodes;
  if (text == "cdi") return ContainerAccessKind::kCdi;
  return Fail(ErrorCode::kInvalid,
              fmt::format("\"{}\" is not one of envvar, device-nodes, cdi", text));
}

Result<> CheckSharing(const AdvertisementRules& offered) {
  const auto is_offered = [&](const std::string& name) {
    return name == offered.resource ||
           std::any_of(offered.rules.begin(), offered.rules.end(),
                       [&](const GpuResourceRule& rule) { return rule.resource == name; });
  };
  const auto check = [&](std::string_view kind, std::string_view suffix,
                         const std::string& resource) -> Result<> {
    const auto refuse = [&](const std::string& why) {
      return Fail(ErrorCode::kInvalid,
                  fmt::format("sharing.{}.resources: \"{}\" {}", kind, resource, why));
    };
    if (!is_offered(resource))
      return refuse("is none of this plugin's resources (resource, resources)");
    const std::string shared = resource + std::string(suffix);
    if (is_offered(shared)) return refuse("is shared under the name of another resource");
    if (shared.size() > kLongestDeviceId)
      return refuse(fmt::format("is too long: with {} it may have 63 characters", suffix));
    return {};
  };
  for (const auto& [resource, replicas] : offered.replicas) {
    if (const Result<> checked = check("timeSlicing", kSharedSuffix, resource); !checked)
      return checked;
  }
  for (const auto& [resource, height] : offered.turns) {
    if (const Result<> checked = check("turns", kTurnsSuffix, resource); !checked) return checked;
    if (offered.replicas.contains(resource)) {
      return Fail(ErrorCode::kInvalid,
                  fmt::format("sharing: \"{}\" is in both timeSlicing.resources and "
                              "turns.resources; keep one of the two",
                              resource));
    }
  }
  return {};
}

Result<> Check(const DevicePluginConfig& config) {
  if (config.source == GpuSource::kFile && config.inventory_file.empty())
    return Fail(ErrorCode::kInvalid, "source file: set the path of the inventory file");
  if (const Result<> checked = CheckResource(config.advertisement.resource); !checked)
    return checked;
  for (const GpuResourceRule& rule : config.advertisement.rules)
    if (const Result<> checked = CheckResource(rule.resource); !checked) return checked;
  if (const Result<> checked = CheckSharing(config.advertisement); !checked) return checked;
  if (const Result<> checked = CheckResource(config.access.cdi_kind); !checked)
    return Fail(ErrorCode::kInvalid, "cdi.kind: " + checked.error().message);
  return {};
}

Result<DevicePluginConfig> ParseDevicePluginConfig(const std::string& yaml,
                                                   const std::string& name) {
  return ParseFile(yaml, name, ReadDevicePlugin);
}

Result<DevicePluginConfig> LoadDevicePluginConfig(const std::string& file) {
  return ParseTextFile(file, ParseDevicePluginConfig);
}

}  // namespace synergy::config
