#pragma once

// Durations and amounts of what a node offers, as YAML scalars with a unit: "30s", "1500m", "4Gi".
// Private to this folder.
//
// Threading: pure. Failures: a thrown Problem (yaml_fields.h).

#include <chrono>
#include <cstdint>
#include <string>

#include <yaml-cpp/yaml.h>

namespace synergy::config {

// More than zero, at most a day.
std::chrono::milliseconds ToDuration(const YAML::Node& node, const std::string& field);
int64_t ToBytes(const YAML::Node& node, const std::string& field);
int64_t ToMilliCpu(const YAML::Node& node, const std::string& field);
int64_t ToInteger(const YAML::Node& node, const std::string& field, int64_t least, int64_t most);
bool ToTruth(const YAML::Node& node, const std::string& field);

}  // namespace synergy::config
