#pragma once

// Extracts the line that shows a failure, fit for an event: short, valid UTF-8, without secrets.
//
// Threading: pure.

#include <cstddef>
#include <string>
#include <string_view>

namespace synergy {

inline constexpr size_t kLongestEvidence = 240;  // bytes

// Returns `line` with tokens, keys, passwords and credentials in URLs replaced by "***", invalid
// UTF-8 by U+FFFD, and control characters by spaces. If the line is too long, returns a part of it
// that contains the place `at` (bytes).
std::string Evidence(std::string_view line, size_t at = 0);

}  // namespace synergy
