#pragma once

// Whom a client trusts and what it shows of itself, following the files that these came from.
// Private to this folder.
//
// Threading: Current() from any thread.
// Failures: changed files that cannot be used leave what was read before in use; they are tried
// again at their next change.

#include <memory>
#include <mutex>
#include <string>

#include "core/result.h"
#include "http/client.h"
#include "http/tls.h"

namespace synergy::http {

class ClientCertificates {
 public:
  static Result<std::unique_ptr<ClientCertificates>> Load(ClientTls tls);

  // For the next connection.
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
