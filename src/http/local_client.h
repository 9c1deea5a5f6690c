#pragma once

// Sends one request to a server on this machine through a Unix socket (ServerOptions::unix_socket).
//
// Threading: any thread.

#include <string>

#include "core/result.h"
#include "http/client.h"

namespace synergy::http {

// Sends GET `path` without TLS. Waits 4 s at most for connecting, and for each read and write.
// Failures: kUnavailable with the name of the socket.
Result<ClientResponse> GetLocally(const std::string& unix_socket, const std::string& path);

}  // namespace synergy::http
