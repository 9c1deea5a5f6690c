#pragma once

// A server's certificate that follows its files. Private to this folder.
//
// Threading: Current() and Expiry() from any thread.
// Failures: a changed pair of files that cannot be used is reported, once per change, and the
// pair before stays in use.

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "core/clock.h"
#include "core/result.h"
#include "http/tls.h"

namespace synergy::http {

class ServerCertificate {
 public:
  using OnProblem = std::function<void(std::string_view)>;

  static Result<std::unique_ptr<ServerCertificate>> Load(std::string certificate_file,
                                                         std::string key_file,
                                                         OnProblem on_problem);

  // For the next connection. Looks at the files each time, which costs less than a thousandth of a
  // handshake and needs no thread of its own.
  TlsContext Current();
  // When the certificate that the next connection gets ends.
  std::optional<WallTime> Expiry() { return ExpiryOf(Current()); }

 private:
  ServerCertificate(std::string certificate_file, std::string key_file, OnProblem on_problem);

  std::string Identity() const;

  const std::string certificate_file_;
  const std::string key_file_;
  const OnProblem on_problem_;

  std::mutex mutex_;
  std::string seen_;
  TlsContext context_;
};

}  // namespace synergy::http
