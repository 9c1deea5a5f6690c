#pragma once

// Input and output of credential plugins (client-go's, client.authentication.k8s.io/v1 and
// v1beta1).
//
// Threading: pure. Failures: kInvalid, without any part of a secret.

#include <string>
#include <string_view>

#include "core/result.h"

namespace synergy::wire {

struct ExecCredential {
  std::string token;
  std::string certificate_pem;
  std::string key_pem;
};

// The content of the environment variable KUBERNETES_EXEC_INFO.
std::string WriteExecInfo(const std::string& api_version, bool interactive);

// Reads what the plugin printed: a token, or a certificate with its key.
Result<ExecCredential> ReadExecCredential(std::string_view text);

}  // namespace synergy::wire
