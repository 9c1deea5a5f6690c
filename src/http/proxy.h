#pragma once

// Finds the proxy that leads to a server, by the environment's variables, as Go's programs do
// (kubectl among them).
//
// Threading: pure.

#include <string>

namespace synergy::http {

// The values of HTTPS_PROXY, HTTP_PROXY and NO_PROXY.
struct ProxyVariables {
  std::string https;
  std::string http;
  std::string exempt;  // hosts, domains, addresses and CIDRs, with commas between them
};

// Returns the URL of the proxy for requests to `base_url`, which may have credentials; empty: there
// is none, or the server is exempt. This machine's own servers (localhost, 127.0.0.0/8, ::1) always
// are.
std::string ProxyFor(const std::string& base_url, const ProxyVariables& variables);

}  // namespace synergy::http
