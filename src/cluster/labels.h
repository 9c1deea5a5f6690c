#pragma once

// An object's labels. Values.
//
// This file is separate because nodes, pods and namespaces have labels, and share no other file.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace synergy {

// The object's key and value pairs, sorted by key.
using Labels = std::vector<std::pair<std::string, std::string>>;

// Returns the value, which is valid as long as `labels`; nullopt if there is no such label.
std::optional<std::string_view> FindLabel(const Labels& labels, std::string_view key);

}  // namespace synergy
