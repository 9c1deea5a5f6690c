#include "config/controller_config.h"

#include <charconv>
#include <system_error>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "config/listen_address.h"
#include "config/text_file.h"
#include "config/yaml_fields.h"
#include "config/yaml_values.h"

namespace synergy::config {
namespace {

double ToTolerance(const YAML::Node& node, const std::string& field) {
  const std::string text = Scalar(node, field);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !(number >= 0 && number < 1))
    Reject(node, fmt::format("{}: \"{}\" is not a number of at least 0 and below 1", field, text));
  return number;
}

class Reader {
 public:
  ControllerConfig Read(const YAML::Node& root) {
    ReadFields(
        root, "",
        {{"listen", Address(config_.listen)},
         {"httpListen", Address(config_.http_listen)},
         {"tls", [this](const auto& node, const auto& field) { ReadTls(node, field); }},
         {"gpuResource",
          [this](const auto& node, const auto& field) {
            config_.gpu_resource = Scalar(node, field);
            if (config_.gpu_resource.find('/') == std::string::npos) {
              Reject(node, field + ": an extended resource has a domain, as in nvidia.com/gpu");
            }
          }},
         {"schedulerName",
          [this](const auto& node, const auto& field) {
            config_.scheduler_name = Scalar(node, field);
            if (config_.scheduler_name.empty()) Reject(node, field + ": must not be empty");
          }},
         {"managedSchedulers", Texts(config_.managed_schedulers)},
         {"excludedNamespaces", Texts(config_.excluded_namespaces)},
         {"ownNamespace", Text(config_.own_namespace)},
         {"enforcement",
          [this](const auto& node, const auto& field) {
            ReadParsed(node, field, ParseEnforcement, config_.enforcement);
          }},
         {"tolerance", [this](const auto& node,
                              const auto& field) { config_.tolerance = ToTolerance(node, field); }},
         {"tuner", [this](const auto& node, const auto& field) { ReadTuner(node, field); }},
         {"leaseName", Text(config_.lease_name)},
         {"stalenessLimit",
          [this](const auto& node, const auto& field) {
            config_.staleness_limit = ToDuration(node, field);
            if (config_.staleness_limit < std::chrono::seconds(3))
              Reject(node, field + ": must be at least 3s");
          }},
         {"shutdownGrace",
          [this](const auto& node, const auto& field) {
            config_.shutdown_grace = ToDuration(node, field);
          }},
         {"maxBodySize",
          [this](const auto& node, const auto& field) {
            config_.max_body_bytes = ToByteCount(node, field);
            if (config_.max_body_bytes < 1024) Reject(node, field + ": must be at least 1Ki");
          }},
         {"log", [this](const auto& node, const auto& field) { ReadLog(node, field); }}});
    return config_;
  }

 private:
  using Field = std::function<void(const YAML::Node&, const std::string&)>;

  static Field Text(std::string& out) {
    return [&out](const YAML::Node& node, const std::string& field) { out = Scalar(node, field); };
  }
  static Field Texts(std::vector<std::string>& out) {
    return [&out](const YAML::Node& node, const std::string& field) { out = ToTexts(node, field); };
  }
  static Field Address(std::string& out) {
    return [&out](const YAML::Node& node, const std::string& field) {
      ListenAddress unused;
      ReadParsed(node, field, ParseListenAddress, unused);
      out = node.Scalar();
    };
  }

  void ReadTls(const YAML::Node& node, const std::string& field) {
    ReadFields(node, field + ".",
               {{"certificateFile", Text(config_.tls_certificate_file)},
                {"keyFile", Text(config_.tls_key_file)}});
    if (config_.tls_certificate_file.empty() != config_.tls_key_file.empty())
      Reject(node, field + ": certificateFile and keyFile belong together");
  }

  static Field Wait(std::chrono::milliseconds& out) {
    return
        [&out](const YAML::Node& node, const std::string& field) { out = ToDuration(node, field); };
  }

  void ReadTuner(const YAML::Node& node, const std::string& field) {
    ControllerConfig::Tuner& tuner = config_.tuner;
    ReadFields(node, field + ".",
               {{"enabled", [&](const auto& n, const auto& f) { tuner.enabled = ToTruth(n, f); }},
                {"round", Wait(tuner.round)},
                {"leastGainPercent",
                 [&](const auto& n, const auto& f) {
                   tuner.least_gain_percent = ToInteger(n, f, 0, 1000);
                 }},
                {"hold", Wait(tuner.hold)},
                {"settle", Wait(tuner.settle)},
                {"patience", Wait(tuner.patience)},
                {"unshrinkable", Wait(tuner.unshrinkable)}});
  }

  void ReadLog(const YAML::Node& node, const std::string& field) {
    ReadFields(
        node, field + ".",
        {{"level", [this](const auto& n,
                          const auto& f) { ReadParsed(n, f, ParseLogLevel, config_.log_level); }},
         {"format", [this](const auto& n, const auto& f) {
            ReadParsed(n, f, ParseLogFormat, config_.log_format);
          }}});
  }

  ControllerConfig config_;
};

}  // namespace

Result<ControllerConfig> ParseControllerConfig(const std::string& yaml, const std::string& name) {
  return ParseFile(yaml, name, [](const YAML::Node& root) { return Reader().Read(root); });
}

Result<ControllerConfig> LoadControllerConfig(const std::string& file) {
  return ParseTextFile(file, ParseControllerConfig);
}

}  // namespace synergy::config
