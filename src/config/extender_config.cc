#include "config/extender_config.h"

#include <chrono>

#include <yaml-cpp/yaml.h>

#include "config/listen_address.h"
#include "config/text_file.h"
#include "config/yaml_fields.h"
#include "config/yaml_values.h"

namespace synergy::config {
namespace {

void ReadReserve(const YAML::Node& node, const std::string& field, ExtenderConfig& config) {
  if (node.IsScalar() && node.Scalar() == "auto") {
    config.reserve_per_gpu.reset();
    return;
  }
  ResourceVector reserve{Gpus(1), {}, {}};
  ReadFields(
      node, field + ".",
      {{"cpu", [&](const auto& n, const auto& f) { reserve.cpu = MilliCpu(ToMilliCores(n, f)); }},
       {"memory",
        [&](const auto& n, const auto& f) { reserve.memory = Bytes(ToByteCount(n, f)); }}});
  config.reserve_per_gpu = reserve;
}

ExtenderConfig Read(const YAML::Node& root) {
  ExtenderConfig config;
  const auto text = [](std::string& out) {
    return [&out](const YAML::Node& node, const std::string& field) { out = Scalar(node, field); };
  };
  const auto duration = [](std::chrono::milliseconds& out) {
    return
        [&out](const YAML::Node& node, const std::string& field) { out = ToDuration(node, field); };
  };
  const auto address = [](std::string& out) {
    return [&out](const YAML::Node& node, const std::string& field) {
      ListenAddress unused;
      ReadParsed(node, field, ParseListenAddress, unused);
      out = node.Scalar();
    };
  };
  ReadFields(root, "",
             {{"listen", address(config.listen)},
              {"httpListen", address(config.http_listen)},
              {"tls",
               [&](const auto& node, const auto& field) {
                 ReadFields(node, field + ".",
                            {{"certificateFile", text(config.tls_certificate_file)},
                             {"keyFile", text(config.tls_key_file)}});
                 if (config.tls_certificate_file.empty() != config.tls_key_file.empty()) {
                   Reject(node, field + ": certificateFile and keyFile belong together");
                 }
               }},
              {"gpuResource", text(config.gpu_resource)},
              {"reservePerGpu",
               [&](const auto& node, const auto& field) { ReadReserve(node, field, config); }},
              {"assumeTimeout", duration(config.assume_timeout)},
              {"expectTimeout", duration(config.expect_timeout)},
              {"stalenessLimit",
               [&](const auto& node, const auto& field) {
                 config.staleness_limit = ToDuration(node, field);
                 if (config.staleness_limit < std::chrono::seconds(3))
                   Reject(node, field + ": must be at least 3s");
               }},
              {"shutdownGrace", duration(config.shutdown_grace)},
              {"maxBodySize",
               [&](const auto& node, const auto& field) {
                 config.max_body_bytes = ToByteCount(node, field);
                 if (config.max_body_bytes < 1024) Reject(node, field + ": must be at least 1Ki");
               }},
              {"log", [&](const auto& node, const auto& field) {
                 ReadFields(node, field + ".",
                            {{"level",
                              [&](const auto& n, const auto& f) {
                                ReadParsed(n, f, ParseLogLevel, config.log_level);
                              }},
                             {"format", [&](const auto& n, const auto& f) {
                                ReadParsed(n, f, ParseLogFormat, config.log_format);
                              }}});
               }}});
  if (config.gpu_resource.find('/') == std::string::npos) {
    Reject(root["gpuResource"],
           "gpuResource: an extended resource has a domain, as in nvidia.com/gpu");
  }
  return config;
}

}  // namespace

Result<ExtenderConfig> ParseExtenderConfig(const std::string& yaml, const std::string& name) {
  return ParseFile(yaml, name, [](const YAML::Node& root) { return Read(root); });
}

Result<ExtenderConfig> LoadExtenderConfig(const std::string& file) {
  return ParseTextFile(file, ParseExtenderConfig);
}

}  // namespace synergy::config
