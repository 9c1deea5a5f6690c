#pragma once

// Kinds of fields, for Fields: each puts what is read into the variable that it was made with,
// which has to outlive it. Private to this folder: yaml-cpp shows.
//
// Threading: pure. Failures: as yaml_fields.h.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "config/yaml_fields.h"
#include "core/log.h"
#include "core/resources.h"
#include "core/units.h"

namespace synergy::config {

YamlField Text(std::string& out);
YamlField NotEmpty(std::string& out);
// A list, none of them empty.
YamlField Texts(std::vector<std::string>& out);
YamlField Truth(bool& out);
YamlField WholeNumber(int64_t& out, int64_t least, int64_t most);
// At least `least` and below `end`.
YamlField Number(double& out, double least, double end);
YamlField Size(Bytes& out);
// cpu and memory; what is not named stays as it is.
YamlField Amounts(ResourceVector& out);
YamlField Section(Fields fields);

// Beside those of ToDuration().
struct DurationLimits {
  std::chrono::seconds least{0};
  std::chrono::seconds most = std::chrono::hours(24);
};
YamlField Duration(std::chrono::milliseconds& out, DurationLimits limits = {});

// What `parse` makes of a text; its error is the field's.
template <class Parse, class Out>
YamlField Parsed(Parse parse, Out& out) {
  return [parse, &out](const YAML::Node& node, const std::string& field) {
    auto parsed = parse(Scalar(node, field));
    if (!parsed) Reject(node, fmt::format("{}: {}", field, parsed.error().message));
    out = *parsed;
  };
}

// Fields that the files of several programs have, with the same limits in all of them.

// Where a server listens, as ParseListenAddress() takes it.
YamlField Address(std::string& out);
// The same, or nothing.
YamlField AddressOrNone(std::string& out);
// certificateFile and keyFile.
YamlField Tls(std::string& certificate_file, std::string& key_file);
// An extended resource.
YamlField GpuResource(std::string& out);
// How long the tuner keeps a place for a waiting pod.
YamlField Hold(std::chrono::milliseconds& out);
YamlField StalenessLimit(std::chrono::milliseconds& out);
// Of a request.
YamlField MaxBodySize(int64_t& bytes);
YamlField Log(LogLevel& level, LogFormat& format);

}  // namespace synergy::config
