#pragma once

// The bearer token of the moment: a fixed one, or a file's content, which service accounts see
// change every hour or so. Private to this folder.
//
// Threading: from any thread.
// Failures: a file that cannot be read any more leaves the last token in use.

#include <memory>
#include <mutex>
#include <string>

#include "core/result.h"

namespace synergy::kube {

class TokenSource {
 public:
  // Both may be empty: then there is no token.
  static Result<std::unique_ptr<TokenSource>> Create(std::string token, std::string file);

  std::string Token();
  // The server refused the token: the file is read again even if it looks the same.
  void Refused();

 private:
  TokenSource(std::string token, std::string file);

  // Reads the file if it is another one than `seen_`.
  Result<> Refresh();

  const std::string file_;
  std::mutex mutex_;
  std::string token_;
  std::string seen_;
};

}  // namespace synergy::kube
