#include "config/config_file.h"

#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

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
  std::ifstream in(file);
  // A folder opens like a file but gives nothing: that would pass for an empty configuration.
  std::error_code unknown;
  if (!in || std::filesystem::is_directory(file, unknown)) {
    return Fail(ErrorCode::kNotFound, fmt::format("{}: cannot be read", file));
  }
  std::stringstream text;
  text << in.rdbuf();
  return ParseExtenderConfig(text.str(), file);
}

Result<ListenAddress> ParseListenAddress(const std::string& text) {
  const auto fail = [&text] {
    return Fail(
        ErrorCode::kInvalid,
        fmt::format("\"{}\" is not host:port, as in 127.0.0.1:8888, [::1]:8888 or :8888", text));
  };
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos) return fail();
  ListenAddress address;
  address.host = text.substr(0, colon);
  if (address.host.size() >= 2 && address.host.front() == '[' && address.host.back() == ']') {
    address.host = address.host.substr(1, address.host.size() - 2);
  } else if (address.host.find(':') != std::string::npos) {
    return fail();
  }
  if (address.host.empty()) address.host = "0.0.0.0";
  const auto [end, error] =
      std::from_chars(text.data() + colon + 1, text.data() + text.size(), address.port);
  if (error != std::errc() || end != text.data() + text.size() || colon + 1 == text.size())
    return fail();
  return address;
}

}  // namespace synergy::config
