#pragma once

// Certificates that are reloaded when their files change. Private to this folder.
//
// Threading: any thread may call Current() and Expiry(). Failures: if changed files cannot be used,
// the previous content stays in use.

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/clock.h"
#include "core/result.h"
#include "http/client.h"
#include "http/tls.h"

namespace synergy::http {

// A server's certificate, and the authority for its clients. Changed files that cannot be used are
// reported, once per change.
class ServerCertificate {
 public:
  using OnProblem = std::function<void(std::string_view)>;

  static Result<std::unique_ptr<ServerCertificate>> Load(ServerTls tls, OnProblem on_problem);

  // Returns the context for the next connection. Checks the files each time, which costs less than
  // a thousandth of a handshake and needs no thread.
  TlsContext Current();
  // Returns when the certificate for the next connection expires.
  std::optional<WallTime> Expiry() { return ExpiryOf(Current()); }

 private:
  ServerCertificate(ServerTls tls, OnProblem on_problem)
      : tls_(std::move(tls)), on_problem_(std::move(on_problem)) {}

  std::string Identity() const;

  const ServerTls tls_;
  const OnProblem on_problem_;

  std::mutex mutex_;
  std::string seen_;
  TlsContext context_;
};

// The authority that a client trusts and the certificate that it presents. Changed files that
// cannot be used are read again at their next change.
class ClientCertificates {
 public:
  static Result<std::unique_ptr<ClientCertificates>> Load(ClientTls tls);

  // Returns the context for the next connection.
  TlsContext Current();

 private:
  explicit ClientCertificates(ClientTls tls) : tls_(std::move(tls)) {}
  std::string Identity() const;

  std::mutex mutex_;
  ClientTls tls_;
  std::string seen_;
  TlsContext context_;
};

}  // namespace synergy::http
