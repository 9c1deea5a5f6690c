#include "config/node_agent_config.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "config/listen_address.h"
#include "config/text_file.h"
#include "config/yaml_fields.h"
#include "config/yaml_values.h"

namespace synergy::config {
namespace {

auto Text(std::string& out) {
  return [&out](const YAML::Node& node, const std::string& field) { out = Scalar(node, field); };
}

auto Wait(std::chrono::milliseconds& out) {
  return
      [&out](const YAML::Node& node, const std::string& field) { out = ToDuration(node, field); };
}

// Reads a scalar by one of our Parse... functions.
template <class Parse, class Out>
auto Parsed(Parse parse, Out& out) {
  return [parse, &out](const YAML::Node& node, const std::string& field) {
    auto parsed = parse(Scalar(node, field));
    if (!parsed) Reject(node, fmt::format("{}: {}", field, parsed.error().message));
    out = *parsed;
  };
}

// Without a slash at its end, so that paths can be put after it.
auto Folder(std::string& out) {
  return [&out](const YAML::Node& node, const std::string& field) {
    out = Scalar(node, field);
    if (!out.starts_with('/') || out.find("..") != std::string::npos)
      Reject(node, fmt::format("{}: \"{}\" is not an absolute path", field, out));
    while (out.size() > 1 && out.ends_with('/')) out.pop_back();
  };
}

auto Section(Fields fields) {
  return [fields = std::move(fields)](const YAML::Node& node, const std::string& field) {
    ReadFields(node, field + ".", fields);
  };
}

NodeAgentConfig Read(const YAML::Node& root) {
  NodeAgentConfig config;
  ReadFields(root, "",
             {{"listen",
               [&](const auto& node, const auto& field) {
                 ListenAddress unused;
                 Parsed(ParseListenAddress, unused)(node, field);
                 config.listen = node.Scalar();
               }},
              {"nodeName", Text(config.node_name)},
              {"cgroupFolder", Folder(config.cgroup_folder)},
              {"kubeletCgroupRoot", Folder(config.kubelet_cgroup_root)},
              {"margin", Section({{"percent",
                                   [&](const auto& node, const auto& field) {
                                     config.margin_percent = ToInteger(node, field, 0, 50);
                                   }},
                                  {"most",
                                   [&](const auto& node, const auto& field) {
                                     config.margin_most = Bytes(ToByteCount(node, field));
                                   }}})},
              {"checkInterval",
               [&](const auto& node, const auto& field) {
                 config.check_interval = ToDuration(node, field);
                 if (config.check_interval > std::chrono::seconds(10))
                   Reject(node, field + ": must be at most 10s");
               }},
              {"giveUpAfter", Wait(config.give_up_after)},
              {"stalenessLimit",
               [&](const auto& node, const auto& field) {
                 config.staleness_limit = ToDuration(node, field);
                 if (config.staleness_limit < std::chrono::seconds(3))
                   Reject(node, field + ": must be at least 3s");
               }},
              {"shutdownGrace", Wait(config.shutdown_grace)},
              {"log", Section({{"level", Parsed(ParseLogLevel, config.log_level)},
                               {"format", Parsed(ParseLogFormat, config.log_format)}})}});
  return config;
}

}  // namespace

Result<NodeAgentConfig> ParseNodeAgentConfig(const std::string& yaml, const std::string& name) {
  return ParseFile(yaml, name, [](const YAML::Node& root) { return Read(root); });
}

Result<NodeAgentConfig> LoadNodeAgentConfig(const std::string& file) {
  return ParseTextFile(file, ParseNodeAgentConfig);
}

}  // namespace synergy::config
