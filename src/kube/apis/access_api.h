#pragma once

// Reviews of tokens, and of what their owners may do, by the API server: the seam at which tests
// put answers of their own.
//
// Threading: from any thread.
// Failures: as ApiClient says, without any part of a token. kDenied: the program itself may not
// ask.

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

  // None: it is nobody's, or not meant for `audience`; empty: for the API server.
  virtual Result<std::optional<wire::TokenUser>> ReviewToken(const std::string& token,
                                                             const std::string& audience) = 0;
  // A path that is no resource's, "/metrics".
  virtual Result<bool> MayGet(const wire::TokenUser& user, const std::string& path) = 0;
};

// The client outlives it.
std::unique_ptr<AccessApi> MakeAccessApi(ApiClient& client);

}  // namespace synergy::kube
