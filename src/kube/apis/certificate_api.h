#pragma once

// Reads and writes a program's own certificates: Secrets in its namespace, and the authorities that
// its own webhook configurations trust. Tests replace it with a simulated cluster.
//
// Threading: any thread. Failures: as in ApiClient; kConflict if the Secret has changed since it
// was read, and kInvalid if the webhook configuration has.

#include <map>
#include <memory>
#include <stop_token>
#include <string>

#include "core/result.h"
#include "kube/api_client.h"
#include "wire/api/certificates.h"

namespace synergy::kube {

enum class WebhookKind { kMutating, kValidating };

class CertificateApi {
 public:
  virtual ~CertificateApi() = default;

  virtual Result<wire::Secret> ReadSecret(const std::string& name, std::stop_token stop) = 0;
  // Sets these keys of an existing Secret, and removes those with empty values.
  virtual Result<> WriteSecret(const std::string& name, const wire::Secret& seen,
                               const std::map<std::string, std::string>& data,
                               std::stop_token stop) = 0;
  virtual Result<wire::WebhookAuthorities> ReadAuthorities(WebhookKind kind,
                                                           std::stop_token stop) = 0;
  virtual Result<> WriteAuthorities(WebhookKind kind, const wire::WebhookAuthorities& seen,
                                    const std::string& pem, std::stop_token stop) = 0;
};

// `webhooks`: the name of both configurations. `client` must outlive the result.
std::unique_ptr<CertificateApi> MakeCertificateApi(ApiClient& client,
                                                   const std::string& own_namespace,
                                                   const std::string& webhooks);

}  // namespace synergy::kube
