#pragma once

// Reviews of tokens, and of their owners' rights, by the API server. Tests replace it with answers
// of their own.
//
// Threading: from any thread.
// Failures: as in ApiClient, without any part of a token. kDenied: the program itself has no right
// to request reviews.
//
// Apart because a test replaces one seam at a time.

#include <memory>
#include <optional>
#include <string>

#include "core/result.h"
#include "kube/api_client.h"
#include "wire/api/access_reviews.h"

namespace synergy::kube {

class AccessApi {
 public:
  virtual ~AccessApi() = default;

  // None: the token is invalid or not meant for `audience`; empty: the API server.
  virtual Result<std::optional<wire::TokenUser>> ReviewToken(const std::string& token,
                                                             const std::string& audience) = 0;
  // `path`: a non-resource path, "/metrics".
  virtual Result<bool> MayGet(const wire::TokenUser& user, const std::string& path) = 0;
};

// The client outlives the result.
std::unique_ptr<AccessApi> MakeAccessApi(ApiClient& client);

}  // namespace synergy::kube
