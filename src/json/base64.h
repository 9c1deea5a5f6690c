#pragma once

// Decodes base64 (RFC 4648, section 4) from configurations and Secrets; ToBase64 is in json/text.h.
//
// Threading: pure.
//
// This file is separate because half of the project includes json/text.h without decoding anything.

#include <optional>
#include <string>
#include <string_view>

namespace synergy::json {

// Decodes text with padding, even with line breaks, which some tools insert; returns nullopt for
// anything else.
std::optional<std::string> FromBase64(std::string_view text);

}  // namespace synergy::json
