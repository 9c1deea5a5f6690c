#pragma once

// One request to a server of this machine on a Unix socket (ServerOptions::unix_socket).
//
// Threading: from any thread.

#include <string>

#include "core/result.h"
#include "http/client.h"

namespace synergy::http {

// Requests `path`, without TLS. Waits for a few seconds at most.
// Failures: kUnavailable, which names the socket.
Result<ClientResponse> GetLocally(const std::string& unix_socket, const std::string& path);

}  // namespace synergy::http
