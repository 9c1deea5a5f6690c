#include "config/field_kinds.h"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/listen_address.h"
#include "config/yaml_values.h"

namespace synergy::config {
namespace {

constexpr char kNotEmptySchema[] = R"({"type":"string","minLength":1})";
constexpr char kSizeSchema[] =
    R"({"type":["string","integer"],"pattern":"^[0-9]+(k|M|G|T|Ki|Mi|Gi|Ti)?$","minimum":0})";
constexpr char kCpuSchema[] = R"({"type":["string","integer"],"pattern":"^[0-9]+m?$","minimum":0})";

}  // namespace

std::string ListSchema(std::string_view items) {
  return fmt::format(R"({{"type":"array","items":{}}})", items);
}

std::string WordSchema(std::initializer_list<std::string_view> words) {
  return fmt::format(R"({{"enum":["{}"]}})", fmt::join(words, R"(",")"));
}

YamlField NotInChart(const YamlField& field) {
  return {[field](const YAML::Node& node, const std::string& name) { field(node, name); }, ""};
}

YamlField Text(std::string& out) {
  return {[&out](const YAML::Node& node, const std::string& field) { out = Scalar(node, field); },
          kTextSchema};
}

YamlField NotEmpty(std::string& out) {
  const auto read = [&out](const YAML::Node& node, const std::string& field) {
    out = Scalar(node, field);
    if (out.empty()) Reject(node, field + ": must not be empty");
  };
  return {read, kNotEmptySchema};
}

YamlField Texts(std::vector<std::string>& out) {
  return {[&out](const YAML::Node& node, const std::string& field) { out = ToTexts(node, field); },
          ListSchema(kNotEmptySchema)};
}

YamlField Truth(bool& out) {
  return {[&out](const YAML::Node& node, const std::string& field) { out = ToTruth(node, field); },
          R"({"type":"boolean"})"};
}

YamlField WholeNumber(int64_t& out, int64_t least, int64_t most) {
  const auto read = [&out, least, most](const YAML::Node& node, const std::string& field) {
    out = ToInteger(node, field, least, most);
  };
  return {read, fmt::format(R"({{"type":"integer","minimum":{},"maximum":{}}})", least, most)};
}

YamlField Number(double& out, double least, double end) {
  const auto read = [&out, least, end](const YAML::Node& node, const std::string& field) {
    const std::string text = Scalar(node, field);
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (error != std::errc() || rest != text.data() + text.size() || !(out >= least && out < end))
      Reject(node, fmt::format("{}: \"{}\" is not a number of at least {} and below {}", field,
                               text, least, end));
  };
  return {read,
          fmt::format(R"({{"type":"number","minimum":{},"exclusiveMaximum":{}}})", least, end)};
}

YamlField Size(Bytes& out) {
  const auto read = [&out](const YAML::Node& node, const std::string& field) {
    out = Bytes(ToByteCount(node, field));
  };
  return {read, kSizeSchema};
}

YamlField Cpu(MilliCpu& out) {
  const auto read = [&out](const YAML::Node& node, const std::string& field) {
    out = MilliCpu(ToMilliCores(node, field));
  };
  return {read, kCpuSchema};
}

YamlField Amounts(ResourceVector& out) {
  return Section({{"cpu", Cpu(out.cpu)}, {"memory", Size(out.memory)}});
}

YamlField Section(Fields fields) {
  std::string schema = SchemaOf(fields);
  const auto read = [fields = std::move(fields)](const YAML::Node& node, const std::string& field) {
    ReadFields(node, field + ".", fields);
  };
  return {read, std::move(schema)};
}

YamlField Duration(std::chrono::milliseconds& out, DurationLimits limits) {
  const auto read = [&out, limits](const YAML::Node& node, const std::string& field) {
    out = ToDuration(node, field,
                     std::max(kLongestWait, std::chrono::ceil<std::chrono::hours>(limits.most)));
    if (out < limits.least)
      Reject(node, fmt::format("{}: must be at least {}s", field, limits.least.count()));
    if (out > limits.most)
      Reject(node, fmt::format("{}: must be at most {}s", field, limits.most.count()));
  };
  return {read, R"({"type":"string","pattern":"^[0-9]+(ms|s|m|h)$"})"};
}

YamlField Address(std::string& out) {
  const auto read = [&out](const YAML::Node& node, const std::string& field) {
    const auto address = ParseListenAddress(Scalar(node, field));
    if (!address) Reject(node, fmt::format("{}: {}", field, address.error().message));
    out = node.Scalar();
  };
  return {read, kTextSchema};
}

YamlField AddressOrNone(std::string& out) {
  const auto read = [&out](const YAML::Node& node, const std::string& field) {
    out.clear();
    if (!Scalar(node, field).empty()) Address(out)(node, field);
  };
  return {read, kTextSchema};
}

YamlField Tls(std::string& certificate_file, std::string& key_file) {
  const YamlField files =
      Section({{"certificateFile", Text(certificate_file)}, {"keyFile", Text(key_file)}});
  const auto read = [&certificate_file, &key_file, files](const YAML::Node& node,
                                                          const std::string& field) {
    files(node, field);
    if (certificate_file.empty() != key_file.empty())
      Reject(node, field + ": set both certificateFile and keyFile, or neither");
  };
  return {read, files.schema()};
}

YamlField GpuResource(std::string& out) {
  const auto read = [&out](const YAML::Node& node, const std::string& field) {
    out = Scalar(node, field);
    if (out.find('/') == std::string::npos)
      Reject(node, field + ": the name of an extended resource has a domain, as in nvidia.com/gpu");
  };
  return {read, kTextSchema};
}

YamlField Dra(bool& enabled, std::vector<std::string>& device_classes) {
  return Section({{"enabled", Truth(enabled)}, {"deviceClasses", Texts(device_classes)}});
}

YamlField Hold(std::chrono::milliseconds& out) {
  // Claims expire relative to the times of writes, which the API server records in whole seconds.
  return Duration(out, {.least = std::chrono::seconds(10)});
}

YamlField StalenessLimit(std::chrono::milliseconds& out) {
  return Duration(out, {.least = std::chrono::seconds(3)});
}

YamlField MaxBodySize(int64_t& bytes) {
  const auto read = [&bytes](const YAML::Node& node, const std::string& field) {
    bytes = ToByteCount(node, field);
    if (bytes < 1024) Reject(node, field + ": must be at least 1Ki");
  };
  return {read, kSizeSchema};
}

YamlField Log(LogLevel& level, LogFormat& format) {
  return Section({{"level", Parsed(ParseLogLevel, level, {"debug", "info", "warn", "error"})},
                  {"format", Parsed(ParseLogFormat, format, {"text", "json"})}});
}

}  // namespace synergy::config
