#pragma once

// Decodes base64 (RFC 4648, section 4) of configurations and of Secrets; ToBase64 is in
// json/text.h.
//
// Threading: pure.
//
// Apart because half of the project includes json/text.h, and decodes nothing.

#include <optional>
#include <string>
#include <string_view>

namespace synergy::json {

// Decodes text with padding, also with line breaks, which some tools insert; none if it is anything
// else.
std::optional<std::string> FromBase64(std::string_view text);

}  // namespace synergy::json
