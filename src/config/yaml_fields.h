#pragma once

// Strict reading of YAML maps, for the readers of files. Exposes yaml-cpp.
//
// Threading: pure.
// Failures: a thrown Problem (or one of yaml-cpp's exceptions), which the readers' own functions
// turn into an Error.

#include <functional>
#include <map>
#include <string>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "core/result.h"

namespace synergy::config {

// A problem and its place; line and column count from 1.
struct Problem {
  int line;
  int column;
  std::string text;
};

Problem ProblemAt(const YAML::Mark& mark, const std::string& text);
[[noreturn]] void Reject(const YAML::Node& node, const std::string& text);

std::string Scalar(const YAML::Node& node, const std::string& field);

// Handles a field's value; the second argument is the field's full name.
using YamlField = std::function<void(const YAML::Node&, const std::string&)>;
// Fields by name.
using Fields = std::map<std::string, YamlField>;

// Passes every entry of `map` to its field. An empty document is a map without entries. `prefix`
// goes before names: "log.".
void ReadFields(const YAML::Node& map, const std::string& prefix, const Fields& fields);

// Returns what `read` returns for a whole file's text; `name` stands for the file in errors.
template <class Read>
auto ParseFile(const std::string& yaml, const std::string& name, Read read)
    -> Result<decltype(read(YAML::Node()))> {
  const auto fail = [&name](const Problem& problem) {
    return Fail(ErrorCode::kInvalid, fmt::format("{}:{}: {}", name, problem.line, problem.text));
  };
  try {
    return read(YAML::Load(yaml));
  } catch (const Problem& problem) {
    return fail(problem);
  } catch (const YAML::Exception& problem) {
    return fail(ProblemAt(problem.mark, problem.msg));
  }
}

}  // namespace synergy::config
