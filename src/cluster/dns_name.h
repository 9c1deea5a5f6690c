#pragma once

// Checks names of Kubernetes objects.
//
// Threading: pure.

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace synergy {

// Returns whether the name consists of labels of lower-case letters, digits and inner dashes,
// separated by dots. Does not check the length.
inline bool IsDnsSubdomain(std::string_view name) {
  const auto is_end = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  for (;;) {
    const size_t dot = name.find('.');
    const std::string_view label = name.substr(0, dot);
    if (label.empty() || !is_end(label.front()) || !is_end(label.back()) ||
        !std::all_of(label.begin(), label.end(), [&](char c) { return is_end(c) || c == '-'; })) {
      return false;
    }
    if (dot == std::string_view::npos) return true;
    name.remove_prefix(dot + 1);
  }
}

}  // namespace synergy
