#pragma once

// Reads single values of YAML files with their units. Private to this folder, because they expose
// yaml-cpp.
//
// Threading: pure. Failures: as in yaml_fields.h.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <yaml-cpp/yaml.h>

#include "config/yaml_fields.h"

namespace synergy::config {

// The limit for durations: no wait needs to be longer, and a deadline must not overflow the clock.
inline constexpr std::chrono::hours kLongestWait{24};

// Parses "250ms", "3s", "5m", "1h"; the value must be above zero.
std::chrono::milliseconds ToDuration(const YAML::Node& node, const std::string& field,
                                     std::chrono::hours most = kLongestWait);
// Parses "1024", "160Mi", "2G".
int64_t ToByteCount(const YAML::Node& node, const std::string& field);
// Parses "3", "1500m".
int64_t ToMilliCores(const YAML::Node& node, const std::string& field);
int64_t ToInteger(const YAML::Node& node, const std::string& field, int64_t least, int64_t most);
bool ToTruth(const YAML::Node& node, const std::string& field);
std::vector<std::string> ToTexts(const YAML::Node& node, const std::string& field);

}  // namespace synergy::config
