#pragma once

// Strict reading of YAML maps. Private to this folder: yaml-cpp shows.
//
// Threading: pure. Failures: a thrown Problem (or one of yaml-cpp's exceptions), which the public
// functions of this folder turn into an Error.

#include <functional>
#include <map>
#include <string>

#include <yaml-cpp/yaml.h>

namespace synergy::config {

// What is wrong, and where; both count from 1.
struct Problem {
  int line;
  int column;
  std::string text;
};

Problem ProblemAt(const YAML::Mark& mark, const std::string& text);
[[noreturn]] void Reject(const YAML::Node& node, const std::string& text);

std::string Scalar(const YAML::Node& node, const std::string& field);

// Fields by name, each with what it does with its value; the second argument is the field's full
// name.
using Fields = std::map<std::string, std::function<void(const YAML::Node&, const std::string&)>>;

// Every entry of `map` by its field. Nothing at all is a map without fields. `prefix` is put before
// names: "log.".
void ReadFields(const YAML::Node& map, const std::string& prefix, const Fields& fields);

}  // namespace synergy::config
