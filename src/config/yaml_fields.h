#pragma once

// Reads YAML maps strictly: unknown and repeated fields are errors. Exposes yaml-cpp.
//
// Threading: pure. Failures: throws Problem (or one of yaml-cpp's exceptions), which the readers'
// own functions turn into an Error.

#include <concepts>
#include <functional>
#include <map>
#include <string>
#include <utility>

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

// Handles a field's value. The second argument is the field's full name.
using FieldReader = std::function<void(const YAML::Node&, const std::string&)>;

// A field of a file: how to read it, and the JSON Schema of its values, for the chart. A schema may
// allow values that the reader refuses, never the reverse. An empty schema means that the field is
// not among the chart's values.
class YamlField {
 public:
  template <std::invocable<const YAML::Node&, const std::string&> Read>
  YamlField(Read read, std::string schema = "{}")
      : read_(std::move(read)), schema_(std::move(schema)) {}

  void operator()(const YAML::Node& node, const std::string& field) const { read_(node, field); }
  const std::string& schema() const { return schema_; }

 private:
  FieldReader read_;
  std::string schema_;
};

// Maps names to fields.
using Fields = std::map<std::string, YamlField>;

// Returns the JSON Schema of a map with these fields.
std::string SchemaOf(const Fields& fields);

// Passes every entry of `map` to its field. An empty document is a map without entries. `prefix`
// precedes names: "log.".
void ReadFields(const YAML::Node& map, const std::string& prefix, const Fields& fields);

// Returns the result of `read` for a whole file's text; `name` is the file's name in errors.
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
