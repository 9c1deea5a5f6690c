#pragma once

// Keeps the controller's own certificate, if the configuration requires it (certificate_keeper.h).
//
// Threading: one owner; any thread may call NotReadyReason(). It has its own thread.

#include <memory>
#include <stop_token>
#include <string>
#include <thread>

#include "config/controller_config.h"
#include "controller/admission/certificate_keeper.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/result.h"
#include "kube/api_client.h"
#include "kube/apis/certificate_api.h"

namespace synergy::controller {

class CertificateUnit {
 public:
  // Writes the certificate files that the servers read (`config.tls_*`) if they do not exist.
  // Without `config.own_certificate`, this object never does anything. All references must outlive
  // the result. Returns kInvalid if a file cannot be written.
  static Result<std::unique_ptr<CertificateUnit>> Open(const config::ControllerConfig& config,
                                                       kube::ApiClient& client, const Clock& clock,
                                                       Logger& log);

  void Start();
  void Stop();
  std::string NotReadyReason() const;

 private:
  CertificateUnit(const config::ControllerConfig& config, kube::ApiClient& client,
                  const Clock& clock, Logger& log);
  void Run(const std::stop_token& stop);

  const Clock& clock_;
  // Null unless the controller makes its own certificate.
  const std::unique_ptr<kube::CertificateApi> api_;
  const std::unique_ptr<CertificateKeeper> keeper_;
  std::jthread thread_;
};

}  // namespace synergy::controller
