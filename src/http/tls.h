#pragma once

// Contexts and sessions of TLS, made with OpenSSL. Private to this folder.
//
// Threading: any number of connections share a TlsContext; a TlsSession belongs to its connection.
// TlsProblem() describes the last failure of the calling thread.

#include <memory>
#include <optional>
#include <string>

#include "core/clock.h"
#include "core/result.h"
#include "http/client.h"

struct ssl_ctx_st;
struct ssl_st;

namespace synergy::http {

using TlsContext = std::shared_ptr<ssl_ctx_st>;

struct TlsSessionDeleter {
  void operator()(ssl_st* session) const;
};
using TlsSession = std::unique_ptr<ssl_st, TlsSessionDeleter>;

// The certificate that a server presents, and the clients that it accepts.
struct ServerTls {
  std::string certificate_file;  // set both, or neither to use a generated one
  std::string key_file;
  // Set both or neither: clients need a certificate from this authority for this DNS name.
  std::string client_ca_file;
  std::string client_name;
};

Result<TlsContext> MakeServerContext(const ServerTls& tls);
// Returns when the context's own certificate expires; nullopt if it has none.
std::optional<WallTime> ExpiryOf(const TlsContext& context);
Result<TlsContext> MakeClientContext(const ClientTls& tls);
// Makes the context for a proxy in front of the server of `tls`: it trusts the server's authority
// and the system's, and presents no certificate.
Result<TlsContext> MakeProxyContext(const ClientTls& tls);

// Return null if out of memory. The second function makes a session inside the session `outer`.
TlsSession MakeSession(const TlsContext& context, int fd);
TlsSession MakeSession(const TlsContext& context, TlsSession outer);
// Makes a client's session request a certificate for `name` (a DNS name or an IP address) by SNI,
// and accept no other.
bool ExpectServer(ssl_st* session, const std::string& name, bool verify);

// Returns OpenSSL's errors, and clears them.
std::string TlsProblem();

}  // namespace synergy::http
