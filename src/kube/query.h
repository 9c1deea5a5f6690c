#pragma once

// Paths and queries for the API server. Private to this folder.
//
// Threading: pure.

#include <string>
#include <string_view>

namespace synergy::kube {

// Escapes `text` for a path segment or a query value: everything except letters, digits and -._~
// (RFC 3986, section 2.1).
std::string Escape(std::string_view text);

}  // namespace synergy::kube
