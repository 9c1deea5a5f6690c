#include "controller/admission/certificate_unit.h"

#include <utility>

namespace synergy::controller {
namespace {

CertificateSettings ToSettings(const config::ControllerConfig& config) {
  const config::ControllerConfig::OwnCertificate& own = config.own_certificate;
  CertificateSettings settings;
  settings.secret = own.secret;
  settings.agent_secret = own.agent_secret;
  settings.names = own.names;
  settings.agent_name = config.progress.server_name;
  settings.validity = own.validity;
  settings.certificate_file = config.tls_certificate_file;
  settings.key_file = config.tls_key_file;
  settings.authority_file = own.authority_file;
  return settings;
}

}  // namespace

Result<std::unique_ptr<CertificateUnit>> CertificateUnit::Open(
    const config::ControllerConfig& config, kube::ApiClient& client, const Clock& clock,
    Logger& log) {
  std::unique_ptr<CertificateUnit> unit(new CertificateUnit(config, client, clock, log));
  if (unit->keeper_) {
    if (const Result<> prepared = unit->keeper_->Prepare(); !prepared)
      return Fail(prepared.error());
  }
  return unit;
}

CertificateUnit::CertificateUnit(const config::ControllerConfig& config, kube::ApiClient& client,
                                 const Clock& clock, Logger& log)
    : clock_(clock),
      api_(config.own_certificate.secret.empty()
               ? nullptr
               : kube::MakeCertificateApi(client, config.own_namespace,
                                          config.own_certificate.webhooks)),
      keeper_(api_ ? std::make_unique<CertificateKeeper>(ToSettings(config), *api_, clock, log)
                   : nullptr) {}

void CertificateUnit::Start() {
  if (keeper_) thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
}

void CertificateUnit::Stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

std::string CertificateUnit::NotReadyReason() const {
  return keeper_ ? keeper_->NotReadyReason() : std::string();
}

void CertificateUnit::Run(const std::stop_token& stop) {
  while (clock_.SleepFor(keeper_->Step(stop), stop)) {
  }
}

}  // namespace synergy::controller
