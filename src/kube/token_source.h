#pragma once

// The current bearer token: a fixed one, or the content of a file, which for service accounts
// changes about every hour. Private to this folder.
//
// Threading: any thread. Failures: if the file can no longer be read, the last token stays in use.

#include <memory>
#include <mutex>
#include <string>

#include "core/result.h"

namespace synergy::kube {

class TokenSource {
 public:
  // If both arguments are empty, there is no token.
  static Result<std::unique_ptr<TokenSource>> Create(std::string token, std::string file);

  std::string Token();
  // Makes the next Token() read the file even if the file looks unchanged. Call it after the server
  // has refused the token.
  void Refused();

 private:
  TokenSource(std::string token, std::string file);

  // Reads the file if it differs from `seen_`.
  Result<> Refresh();

  const std::string file_;
  std::mutex mutex_;
  std::string token_;
  std::string seen_;
};

}  // namespace synergy::kube
