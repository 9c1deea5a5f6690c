#pragma once

// What a credential plugin is told, and what it answers (client-go's credential plugins,
// client.authentication.k8s.io/v1, v1beta1).
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

// What the plugin printed; it has a token, or a certificate with its key.
Result<ExecCredential> ReadExecCredential(std::string_view text);

}  // namespace synergy::wire
