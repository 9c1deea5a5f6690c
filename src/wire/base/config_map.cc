#include "wire/base/config_map.h"

#include <fmt/format.h>

#include "wire/base/json_words.h"

namespace synergy::wire {

std::string NewConfigMap(std::string_view name, std::string_view data, std::string_view label) {
  const std::string more = label.empty() ? std::string() : Quoted(label) + R"(:"true",)";
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":{},"labels":{{{}"app.kubernetes.io/part-of":"synergy"}}}},"data":{}}})",
      Quoted(name), more, data);
}

std::string DataPatch(std::string_view resource_version, std::string_view data) {
  return fmt::format(R"({{"metadata":{{"resourceVersion":{}}},"data":{}}})",
                     Quoted(resource_version), data);
}

std::string DataWith(std::string_view key, std::string_view text) {
  Writer out;
  out.BeginObject();
  out.Key(key);
  out.Text(text);
  out.EndObject();
  return out.Take();
}

}  // namespace synergy::wire
