#pragma once

// Requests reviews of tokens, and of their owners' rights, from the API server. Tests replace it
// with their own answers.
//
// Threading: any thread. Failures: as in ApiClient, without any part of a token; kDenied if the
// program itself has no right to request reviews.
//
// This file is separate because each test replaces only one of these APIs.

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

  // Returns nullopt if the token is invalid or not meant for `audience`; an empty audience means
  // the API server.
  virtual Result<std::optional<wire::TokenUser>> ReviewToken(const std::string& token,
                                                             const std::string& audience) = 0;
  // `path`: a non-resource path such as "/metrics".
  virtual Result<bool> MayGet(const wire::TokenUser& user, const std::string& path) = 0;
};

// The client must outlive the result.
std::unique_ptr<AccessApi> MakeAccessApi(ApiClient& client);

}  // namespace synergy::kube
