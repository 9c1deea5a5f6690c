#pragma once

// Base64 with padding (RFC 4648, section 4).
//
// Threading: pure.

#include <string>
#include <string_view>

namespace synergy::json {

std::string ToBase64(std::string_view bytes);

}  // namespace synergy::json
