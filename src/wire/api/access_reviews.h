#pragma once

// Questions to the API server about tokens and rights: TokenReview (authentication.k8s.io/v1),
// SubjectAccessReview (authorization.k8s.io/v1), and TokenRequest, by which a service account's
// token is made.
//
// Threading: pure. Failures: kInvalid, without any part of a token.

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"

namespace synergy::wire {

// The owner of a token, as the API server tells it.
struct TokenUser {
  std::string name;  // "system:serviceaccount:team:trainer"
  std::string uid;
  std::string groups;  // JSON text, as it came; empty: none
  std::string extra;
};

// `audience`: whom the token has to be meant for; empty: the API server.
std::string WriteTokenReview(std::string_view token, std::string_view audience);
// None: it is nobody's, or not meant for that audience.
Result<std::optional<TokenUser>> ReadTokenReview(std::string_view text, std::string_view audience);

// Whether `user` may `get` that path, which is no resource's.
std::string WritePathReview(const TokenUser& user, std::string_view path);
Result<bool> ReadPathReview(std::string_view text);

std::string WriteTokenRequest(std::string_view audience, std::chrono::seconds validity);
Result<std::string> ReadRequestedToken(std::string_view text);

}  // namespace synergy::wire
