#pragma once

// OpenSSL as this folder uses it. Private to this folder.
//
// Threading: a TlsContext is shared by any number of connections; a TlsSession belongs to its
// connection. TlsProblem() speaks of the calling thread's last failure.

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

// What a server shows, and whom it serves.
struct ServerTls {
  std::string certificate_file;  // both or neither: a certificate that is made for the context
  std::string key_file;
  // Both or neither: clients have a certificate of this authority, for this DNS name.
  std::string client_ca_file;
  std::string client_name;
};

Result<TlsContext> MakeServerContext(const ServerTls& tls);
// When the context's own certificate ends; none where it has none.
std::optional<WallTime> ExpiryOf(const TlsContext& context);
Result<TlsContext> MakeClientContext(const ClientTls& tls);

// Null when memory ran out.
TlsSession MakeSession(const TlsContext& context, int fd);
// Makes a client's session accept only a certificate for `name` (a DNS name or an IP address), and
// ask for it by SNI.
bool ExpectServer(ssl_st* session, const std::string& name, bool verify);

// What OpenSSL says went wrong, and forgets it.
std::string TlsProblem();

}  // namespace synergy::http
