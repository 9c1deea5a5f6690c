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

// Decodes base64 with padding. Ignores white space, because some tools insert line breaks. Returns
// nullopt if `text` is malformed.
std::optional<std::string> FromBase64(std::string_view text);

}  // namespace synergy::json
