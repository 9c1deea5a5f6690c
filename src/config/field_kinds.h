#pragma once

// Kinds of fields for Fields. Each field stores its value in the variable that was passed to it;
// the variable must outlive the field. Private to this folder, because they expose yaml-cpp.
//
// Threading: pure. Failures: as in yaml_fields.h.

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "config/yaml_fields.h"
#include "core/log.h"
#include "core/resources.h"
#include "core/units.h"

namespace synergy::config {

YamlField Text(std::string& out);
YamlField NotEmpty(std::string& out);
// Reads a list without empty elements.
YamlField Texts(std::vector<std::string>& out);
YamlField Truth(bool& out);
YamlField WholeNumber(int64_t& out, int64_t least, int64_t most);
// Reads a number from `least` up to, but not including, `end`.
YamlField Number(double& out, double least, double end);
YamlField Size(Bytes& out);
YamlField Cpu(MilliCpu& out);
// Reads cpu and memory; an absent one leaves its amount unchanged.
YamlField Amounts(ResourceVector& out);
YamlField Section(Fields fields);

// Limits in addition to those of ToDuration().
struct DurationLimits {
  std::chrono::seconds least{0};
  std::chrono::seconds most = std::chrono::hours(24);
};
YamlField Duration(std::chrono::milliseconds& out, DurationLimits limits = {});

// The schemas of texts, of lists of a kind of value, and of fixed words.
inline constexpr char kTextSchema[] = R"({"type":"string"})";
std::string ListSchema(std::string_view items);
std::string WordSchema(std::initializer_list<std::string_view> words);

// Stores the result of `parse`, which accepts these words; an error of `parse` becomes the field's.
template <class Parse, class Out>
YamlField Parsed(Parse parse, Out& out, std::initializer_list<std::string_view> words) {
  const auto read = [parse, &out](const YAML::Node& node, const std::string& field) {
    auto parsed = parse(Scalar(node, field));
    if (!parsed) Reject(node, fmt::format("{}: {}", field, parsed.error().message));
    out = *parsed;
  };
  return {read, WordSchema(words)};
}

// A field that the chart sets itself or does not use.
YamlField NotInChart(const YamlField& field);

// Fields that the files of several programs share, with the same limits in all.

// Reads a server's address, in the form of ParseListenAddress().
YamlField Address(std::string& out);
// Reads the same, or an empty string.
YamlField AddressOrNone(std::string& out);
// Reads certificateFile and keyFile.
YamlField Tls(std::string& certificate_file, std::string& key_file);
// Reads the name of an extended resource.
YamlField GpuResource(std::string& out);
// Reads enabled and deviceClasses.
YamlField Dra(bool& enabled, std::vector<std::string>& device_classes);
// Reads how long the tuner reserves a place for a waiting pod.
YamlField Hold(std::chrono::milliseconds& out);
YamlField StalenessLimit(std::chrono::milliseconds& out);
// Reads the maximum size of a request's body, in bytes.
YamlField MaxBodySize(int64_t& bytes);
YamlField Log(LogLevel& level, LogFormat& format);

}  // namespace synergy::config
