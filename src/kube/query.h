#pragma once

// Paths and queries for the API server. Private to this folder.
//
// Threading: pure.

#include <string>
#include <string_view>

namespace synergy::kube {

// `text` as it may stand in a path's segment or a query's value: everything but letters, digits and
// -._~ escaped (RFC 3986, section 2.1).
std::string Escape(std::string_view text);

}  // namespace synergy::kube
