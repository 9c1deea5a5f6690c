#include "http/certificates.h"

#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>

namespace synergy::http {
namespace {

// Identifies the file that a name refers to now, so that a change is noticed without reading the
// file. An update of a mounted secret gives the name a new inode. Returns "missing" if there is no
// file.
std::string FileIdentity(const std::string& file) {
  struct stat status{};
  if (::stat(file.c_str(), &status) != 0) return "missing";
  return fmt::format("{}:{}:{}:{}.{}", status.st_dev, status.st_ino, status.st_size,
                     status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

// Reads a file again. Leaves `pem` unchanged if there is no file name, or the file is empty or
// cannot be read. An empty `pem` would make a client trust all authorities of the system.
void ReadAgain(const std::string& file, std::string& pem) {
  if (file.empty()) return;
  std::ifstream in(file, std::ios::binary);
  std::string now(std::istreambuf_iterator<char>(in), {});
  if (!now.empty()) pem = std::move(now);
}

}  // namespace

std::string ServerCertificate::Identity() const {
  std::string identity = FileIdentity(tls_.certificate_file) + " " + FileIdentity(tls_.key_file);
  if (!tls_.client_ca_file.empty()) identity += " " + FileIdentity(tls_.client_ca_file);
  return identity;
}

Result<std::unique_ptr<ServerCertificate>> ServerCertificate::Load(ServerTls tls,
                                                                   OnProblem on_problem) {
  std::unique_ptr<ServerCertificate> certificate(
      new ServerCertificate(std::move(tls), std::move(on_problem)));
  // Read the identity before the files, so that a change during the read is noticed later.
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
    // Perhaps only one of the two files has been written yet. Then this attempt fails, and the
    // change of the other file triggers another attempt.
    Result<TlsContext> context = MakeServerContext(tls_);
    if (context) {
      context_ = std::move(*context);
    } else if (on_problem_) {
      on_problem_("the old certificate stays in use: " + context.error().message);
    }
  }
  return context_;
}

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
    // This fails if only the certificate or only the key has been written yet.
    if (Result<TlsContext> context = MakeClientContext(now)) {
      tls_ = std::move(now);
      context_ = *std::move(context);
    }
  }
  return context_;
}

}  // namespace synergy::http
