#include "kube/apis/certificate_api.h"

#include <utility>

#include <fmt/format.h>

#include "kube/listing.h"

namespace synergy::kube {
namespace {

class HttpCertificateApi final : public CertificateApi {
 public:
  HttpCertificateApi(ApiClient& client, const std::string& own_namespace,
                     const std::string& webhooks)
      : client_(client),
        secrets_(fmt::format("/api/v1/namespaces/{}/secrets/", Escape(own_namespace))),
        webhooks_(Escape(webhooks)) {}

  Result<wire::Secret> ReadSecret(const std::string& name, std::stop_token stop) override {
    const Result<std::string> answer = client_.Get(secrets_ + Escape(name), std::move(stop));
    if (!answer) return Fail(answer.error());
    return wire::ReadSecret(*answer);
  }

  Result<> WriteSecret(const std::string& name, const wire::Secret& seen,
                       const std::map<std::string, std::string>& data,
                       std::stop_token stop) override {
    return Ended(client_.Patch(secrets_ + Escape(name), "application/merge-patch+json",
                               wire::WriteSecretPatch(seen, data), std::move(stop)));
  }

  Result<wire::WebhookAuthorities> ReadAuthorities(WebhookKind kind,
                                                   std::stop_token stop) override {
    const Result<std::string> answer = client_.Get(PathOf(kind), std::move(stop));
    if (!answer) return Fail(answer.error());
    return wire::ReadWebhookAuthorities(*answer);
  }

  Result<> WriteAuthorities(WebhookKind kind, const wire::WebhookAuthorities& seen,
                            const std::string& pem, std::stop_token stop) override {
    return Ended(client_.Patch(PathOf(kind), "application/json-patch+json",
                               wire::WriteWebhookAuthorities(seen, pem), std::move(stop)));
  }

 private:
  static Result<> Ended(const Result<std::string>& answer) {
    if (!answer) return Fail(answer.error());
    return {};
  }

  std::string PathOf(WebhookKind kind) const {
    return fmt::format("/apis/admissionregistration.k8s.io/v1/{}webhookconfigurations/{}",
                       kind == WebhookKind::kMutating ? "mutating" : "validating", webhooks_);
  }

  ApiClient& client_;
  const std::string secrets_;
  const std::string webhooks_;
};

}  // namespace

std::unique_ptr<CertificateApi> MakeCertificateApi(ApiClient& client,
                                                   const std::string& own_namespace,
                                                   const std::string& webhooks) {
  return std::make_unique<HttpCertificateApi>(client, own_namespace, webhooks);
}

}  // namespace synergy::kube
