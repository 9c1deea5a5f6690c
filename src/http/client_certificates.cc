#include "http/client_certificates.h"

#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "http/file_identity.h"

namespace synergy::http {
namespace {

// What a file holds now. As it was, where it has no name, cannot be read, or is empty: without an
// authority of its own a client would trust all of the system's.
void ReadAgain(const std::string& file, std::string& pem) {
  if (file.empty()) return;
  std::ifstream in(file, std::ios::binary);
  std::string now(std::istreambuf_iterator<char>(in), {});
  if (!now.empty()) pem = std::move(now);
}

}  // namespace

Result<std::unique_ptr<ClientCertificates>> ClientCertificates::Load(ClientTls tls) {
  std::unique_ptr<ClientCertificates> certificates(new ClientCertificates(std::move(tls)));
  Result<TlsContext> context = MakeClientContext(certificates->tls_);
  if (!context) return Fail(context.error());
  certificates->context_ = *std::move(context);
  return certificates;
}

std::string ClientCertificates::Identity() const {
  std::string identity;
  for (const std::string* file : {&tls_.ca_file, &tls_.certificate_file, &tls_.key_file}) {
    if (!file->empty()) identity += FileIdentity(*file) + " ";
  }
  return identity;
}

TlsContext ClientCertificates::Current() {
  const std::lock_guard lock(mutex_);
  std::string identity = Identity();
  if (identity != seen_) {
    seen_ = std::move(identity);
    ClientTls now = tls_;
    ReadAgain(now.ca_file, now.ca_pem);
    ReadAgain(now.certificate_file, now.certificate_pem);
    ReadAgain(now.key_file, now.key_pem);
    // Of a certificate and its key one may have been written and the other not yet.
    if (Result<TlsContext> context = MakeClientContext(now)) {
      tls_ = std::move(now);
      context_ = *std::move(context);
    }
  }
  return context_;
}

}  // namespace synergy::http
