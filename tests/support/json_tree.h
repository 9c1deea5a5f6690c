#pragma once

// JSON that can be changed, and JSON Patch (RFC 6902) applied to it as the API server does it, to
// see what a patch comes to.
//
// Threading: values. Failures: a patch that cannot be applied gives an error, as it would there.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace synergy::testing {

struct JsonTree {
  enum class Kind { kNull, kOther, kString, kArray, kObject };

  Kind kind = Kind::kNull;
  std::string text;  // kString: what it holds; kOther: a number or a truth value as it is spelled
  std::vector<JsonTree> elements;
  std::map<std::string, JsonTree> members;

  bool operator==(const JsonTree&) const = default;

  // A missing place is null. Steps are separated by "/"; "~1" stands for one in a key.
  const JsonTree& At(std::string_view pointer) const;
  std::string Write() const;
};

Result<JsonTree> ParseJsonTree(std::string_view text);
Result<JsonTree> ApplyPatch(JsonTree tree, std::string_view patch);

}  // namespace synergy::testing
