#pragma once

// Mutable JSON for checking the results of patches: applies a JSON Patch (RFC 6902) as the API
// server does.
//
// Threading: values. Failures: a patch that cannot be applied gives an error, as on the API server.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace synergy::testing {

struct JsonTree {
  enum class Kind { kNull, kOther, kString, kArray, kObject };

  Kind kind = Kind::kNull;
  std::string text;  // kString: its value; kOther: the spelling of a number or a truth value
  std::vector<JsonTree> elements;
  std::map<std::string, JsonTree> members;

  bool operator==(const JsonTree&) const = default;

  // Returns the value at a JSON Pointer: steps are separated by "/", and "~1" is a slash in a key.
  // Returns null if there is none.
  const JsonTree& At(std::string_view pointer) const;
  std::string Write() const;
};

Result<JsonTree> ParseJsonTree(std::string_view text);
Result<JsonTree> ApplyPatch(JsonTree tree, std::string_view patch);

}  // namespace synergy::testing
