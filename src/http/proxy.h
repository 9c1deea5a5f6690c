#pragma once

// Finds the proxy for a server from environment variables, as Go programs such as kubectl do.
//
// Threading: pure.

#include <string>

namespace synergy::http {

// The values of HTTPS_PROXY, HTTP_PROXY and NO_PROXY.
struct ProxyVariables {
  std::string https;
  std::string http;
  std::string exempt;  // hosts, domains, addresses and CIDRs, separated by commas
};

// Returns the URL of the proxy for requests to `base_url`, which may contain credentials; empty if
// there is none, or the server is exempt. This machine's own servers (localhost, 127.0.0.0/8, ::1)
// are always exempt.
std::string ProxyFor(const std::string& base_url, const ProxyVariables& variables);

}  // namespace synergy::http
