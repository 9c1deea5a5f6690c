#pragma once

// Texts about tokens and rights: those of credential plugins, and three requests to the API server.
// The requests are TokenReview (authentication.k8s.io/v1), SubjectAccessReview
// (authorization.k8s.io/v1), and TokenRequest, which issues a token for a service account.
//
// Threading: pure. Failures: kInvalid, without any part of a token.

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"

namespace synergy::wire {

// The owner of a token, as the API server reports it.
struct TokenUser {
  std::string name;  // "system:serviceaccount:team:trainer"
  std::string uid;
  std::string groups;  // JSON text as received; empty: none
  std::string extra;
};

// `audience`: the audience for which the token must be meant; empty: the API server.
std::string WriteTokenReview(std::string_view token, std::string_view audience);
// Returns nullopt if the token is invalid or not meant for that audience.
Result<std::optional<TokenUser>> ReadTokenReview(std::string_view text, std::string_view audience);

// Returns a SubjectAccessReview that checks whether `user` may `get` the non-resource path `path`.
std::string WritePathReview(const TokenUser& user, std::string_view path);
Result<bool> ReadPathReview(std::string_view text);

std::string WriteTokenRequest(std::string_view audience, std::chrono::seconds validity);
Result<std::string> ReadRequestedToken(std::string_view text);

// Input and output of credential plugins (those of client-go, client.authentication.k8s.io/v1 and
// v1beta1).

struct ExecCredential {
  std::string token;
  std::string certificate_pem;
  std::string key_pem;
};

// Returns the content of the environment variable KUBERNETES_EXEC_INFO.
std::string WriteExecInfo(const std::string& api_version, bool interactive);

// Reads the plugin's output: a token, or a certificate with its key.
Result<ExecCredential> ReadExecCredential(std::string_view text);

}  // namespace synergy::wire
