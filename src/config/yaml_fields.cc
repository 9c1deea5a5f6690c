#include "config/yaml_fields.h"

#include <algorithm>

#include <fmt/format.h>

namespace synergy::config {

Problem ProblemAt(const YAML::Mark& mark, const std::string& text) {
  // An empty document has no position.
  return {std::max(mark.line, 0) + 1, std::max(mark.column, 0) + 1, text};
}

void Reject(const YAML::Node& node, const std::string& text) { throw ProblemAt(node.Mark(), text); }

std::string Scalar(const YAML::Node& node, const std::string& field) {
  if (!node.IsScalar()) Reject(node, fmt::format("{}: expected a single value", field));
  return node.Scalar();
}

std::string SchemaOf(const Fields& fields) {
  std::string properties;
  for (const auto& [name, field] : fields) {
    if (field.schema().empty()) continue;
    properties += fmt::format(R"({}"{}":{})", properties.empty() ? "" : ",", name, field.schema());
  }
  return fmt::format(R"({{"type":"object","additionalProperties":false,"properties":{{{}}}}})",
                     properties);
}

void ReadFields(const YAML::Node& map, const std::string& prefix, const Fields& fields) {
  if (map.IsNull()) return;
  if (!map.IsMap()) {
    Reject(map, fmt::format("{}: expected fields",
                            prefix.empty() ? "the file" : prefix.substr(0, prefix.size() - 1)));
  }
  std::map<std::string, bool> seen;
  for (const auto& entry : map) {
    const std::string name = Scalar(entry.first, prefix + "a field's name");
    const auto field = fields.find(name);
    if (field == fields.end()) {
      std::string known;
      for (const auto& [other, read] : fields) known += (known.empty() ? "" : ", ") + other;
      Reject(entry.first,
             fmt::format("{}{}: unknown field; known fields: {}", prefix, name, known));
    }
    if (seen[name]) Reject(entry.first, fmt::format("{}{}: set twice", prefix, name));
    seen[name] = true;
    field->second(entry.second, prefix + name);
  }
}

}  // namespace synergy::config
