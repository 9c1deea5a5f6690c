#include "config/field_kinds.h"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "config/listen_address.h"
#include "config/yaml_values.h"

namespace synergy::config {

YamlField Text(std::string& out) {
  return [&out](const YAML::Node& node, const std::string& field) { out = Scalar(node, field); };
}

YamlField NotEmpty(std::string& out) {
  return [&out](const YAML::Node& node, const std::string& field) {
    out = Scalar(node, field);
    if (out.empty()) Reject(node, field + ": must not be empty");
  };
}

YamlField Texts(std::vector<std::string>& out) {
  return [&out](const YAML::Node& node, const std::string& field) { out = ToTexts(node, field); };
}

YamlField Truth(bool& out) {
  return [&out](const YAML::Node& node, const std::string& field) { out = ToTruth(node, field); };
}

YamlField WholeNumber(int64_t& out, int64_t least, int64_t most) {
  return [&out, least, most](const YAML::Node& node, const std::string& field) {
    out = ToInteger(node, field, least, most);
  };
}

YamlField Number(double& out, double least, double end) {
  return [&out, least, end](const YAML::Node& node, const std::string& field) {
    const std::string text = Scalar(node, field);
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (error != std::errc() || rest != text.data() + text.size() || !(out >= least && out < end))
      Reject(node, fmt::format("{}: \"{}\" is not a number of at least {} and below {}", field,
                               text, least, end));
  };
}

YamlField Size(Bytes& out) {
  return [&out](const YAML::Node& node, const std::string& field) {
    out = Bytes(ToByteCount(node, field));
  };
}

YamlField Amounts(ResourceVector& out) {
  const auto cpu = [&out](const YAML::Node& node, const std::string& field) {
    out.cpu = MilliCpu(ToMilliCores(node, field));
  };
  return Section({{"cpu", cpu}, {"memory", Size(out.memory)}});
}

YamlField Section(Fields fields) {
  return [fields = std::move(fields)](const YAML::Node& node, const std::string& field) {
    ReadFields(node, field + ".", fields);
  };
}

YamlField Duration(std::chrono::milliseconds& out, DurationLimits limits) {
  return [&out, limits](const YAML::Node& node, const std::string& field) {
    out = ToDuration(node, field,
                     std::max(kLongestWait, std::chrono::ceil<std::chrono::hours>(limits.most)));
    if (out < limits.least)
      Reject(node, fmt::format("{}: must be at least {}s", field, limits.least.count()));
    if (out > limits.most)
      Reject(node, fmt::format("{}: must be at most {}s", field, limits.most.count()));
  };
}

YamlField Address(std::string& out) {
  return [&out](const YAML::Node& node, const std::string& field) {
    ListenAddress unused;
    Parsed(ParseListenAddress, unused)(node, field);
    out = node.Scalar();
  };
}

YamlField AddressOrNone(std::string& out) {
  return [&out](const YAML::Node& node, const std::string& field) {
    out.clear();
    if (!Scalar(node, field).empty()) Address(out)(node, field);
  };
}

YamlField Tls(std::string& certificate_file, std::string& key_file) {
  return [&](const YAML::Node& node, const std::string& field) {
    Section({{"certificateFile", Text(certificate_file)}, {"keyFile", Text(key_file)}})(node,
                                                                                        field);
    if (certificate_file.empty() != key_file.empty())
      Reject(node, field + ": set both certificateFile and keyFile, or neither");
  };
}

YamlField GpuResource(std::string& out) {
  return [&out](const YAML::Node& node, const std::string& field) {
    out = Scalar(node, field);
    if (out.find('/') == std::string::npos)
      Reject(node, field + ": the name of an extended resource has a domain, as in nvidia.com/gpu");
  };
}

YamlField Hold(std::chrono::milliseconds& out) {
  // Claims end by the times of writes, which the API server records in whole seconds.
  return Duration(out, {.least = std::chrono::seconds(10)});
}

YamlField StalenessLimit(std::chrono::milliseconds& out) {
  return Duration(out, {.least = std::chrono::seconds(3)});
}

YamlField MaxBodySize(int64_t& bytes) {
  return [&bytes](const YAML::Node& node, const std::string& field) {
    bytes = ToByteCount(node, field);
    if (bytes < 1024) Reject(node, field + ": must be at least 1Ki");
  };
}

YamlField Log(LogLevel& level, LogFormat& format) {
  return Section(
      {{"level", Parsed(ParseLogLevel, level)}, {"format", Parsed(ParseLogFormat, format)}});
}

}  // namespace synergy::config
