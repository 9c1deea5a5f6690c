#include "http/server_certificate.h"

#include "http/file_identity.h"

namespace synergy::http {
ServerCertificate::ServerCertificate(std::string certificate_file, std::string key_file,
                                     OnProblem on_problem)
    : certificate_file_(std::move(certificate_file)),
      key_file_(std::move(key_file)),
      on_problem_(std::move(on_problem)) {}

std::string ServerCertificate::Identity() const {
  return FileIdentity(certificate_file_) + " " + FileIdentity(key_file_);
}

Result<std::unique_ptr<ServerCertificate>> ServerCertificate::Load(std::string certificate_file,
                                                                   std::string key_file,
                                                                   OnProblem on_problem) {
  std::unique_ptr<ServerCertificate> certificate(new ServerCertificate(
      std::move(certificate_file), std::move(key_file), std::move(on_problem)));
  // Before the files are read: a change while they are must be seen later.
  certificate->seen_ = certificate->Identity();
  Result<TlsContext> context =
      MakeServerContext(certificate->certificate_file_, certificate->key_file_);
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
    Result<TlsContext> context = MakeServerContext(certificate_file_, key_file_);
    if (context) {
      context_ = std::move(*context);
    } else if (on_problem_) {
      on_problem_("the old certificate stays in use: " + context.error().message);
    }
  }
  return context_;
}

}  // namespace synergy::http
