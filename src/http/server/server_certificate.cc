#include "http/server/server_certificate.h"

#include "http/file_identity.h"

namespace synergy::http {

std::string ServerCertificate::Identity() const {
  std::string identity = FileIdentity(tls_.certificate_file) + " " + FileIdentity(tls_.key_file);
  if (!tls_.client_ca_file.empty()) identity += " " + FileIdentity(tls_.client_ca_file);
  return identity;
}

Result<std::unique_ptr<ServerCertificate>> ServerCertificate::Load(ServerTls tls,
                                                                   OnProblem on_problem) {
  std::unique_ptr<ServerCertificate> certificate(
      new ServerCertificate(std::move(tls), std::move(on_problem)));
  // Before the files are read: a change while they are must be seen later.
  certificate->seen_ = certificate->Identity();
  Result<TlsContext> context = MakeServerContext(certificate->tls_);
  if (!context) return Fail(context.error());
  certificate->context_ = std::move(*context);
  return certificate;
}

TlsContext ServerCertificate::Current() {
  const std::lock_guard lock(mutex_);
  std::string identity = Identity();
  if (identity != seen_) {
    seen_ = std::move(identity);
    // One file may have been written and the other not yet: then this fails now, and the other
    // one's change brings us here again.
    Result<TlsContext> context = MakeServerContext(tls_);
    if (context) {
      context_ = std::move(*context);
    } else if (on_problem_) {
      on_problem_("the old certificate stays in use: " + context.error().message);
    }
  }
  return context_;
}

}  // namespace synergy::http
