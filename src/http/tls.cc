#include "http/tls.h"

#include <cstdlib>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include "http/openssl_objects.h"

namespace synergy::http {
namespace {

tl::unexpected<Error> Invalid(const char* what) {
  return Fail(ErrorCode::kInvalid, fmt::format("{}: {}", what, TlsProblem()));
}

TlsContext MakeContext(const SSL_METHOD* method) {
  ::ERR_clear_error();
  TlsContext context(::SSL_CTX_new(method), ::SSL_CTX_free);
  if (context == nullptr) return context;
  ::SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  ::SSL_CTX_set_options(context.get(), SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
  ::SSL_CTX_set_mode(context.get(),
                     SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  ::SSL_CTX_set_default_passwd_cb(context.get(), NoPassPhrase);
  return context;
}

// Returns whether reading stopped after the last certificate, which OpenSSL reports as "no start
// line".
bool EndedWell() {
  const unsigned long error = ::ERR_peek_last_error();
  if (ERR_GET_LIB(error) != ERR_LIB_PEM || ERR_GET_REASON(error) != PEM_R_NO_START_LINE)
    return false;
  ::ERR_clear_error();
  return true;
}

// The files in which distributions other than Debian keep the system's certificate authorities.
constexpr const char* kBundles[] = {
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // Fedora, RHEL
    "/etc/pki/tls/certs/ca-bundle.crt",                   // CentOS, Amazon Linux
    "/etc/ssl/ca-bundle.pem",                             // openSUSE
    "/etc/ssl/cert.pem",                                  // Alpine
    "/etc/ssl/certs/ca-certificates.crt",                 // Arch, Gentoo, NixOS
};

// Trusts the authorities in SSL_CERT_FILE and SSL_CERT_DIR. If neither variable is set, trusts
// those in Debian's folder, or else in the first bundle that exists.
Result<> TrustSystem(SSL_CTX* context) {
  if (::SSL_CTX_set_default_verify_paths(context) != 1)
    return Invalid("the system's certificate authorities");
  if (std::getenv(::X509_get_default_cert_file_env()) != nullptr ||
      std::getenv(::X509_get_default_cert_dir_env()) != nullptr ||
      ::access(::X509_get_default_cert_dir(), R_OK) == 0) {
    return {};
  }
  for (const char* const bundle : kBundles) {
    if (::access(bundle, R_OK) != 0) continue;
    if (::SSL_CTX_load_verify_file(context, bundle) != 1)
      return Invalid("the system's certificate authorities");
    break;
  }
  return {};
}

Result<> Trust(SSL_CTX* context, const std::string& ca_pem) {
  if (ca_pem.empty()) return TrustSystem(context);
  const Bio bio = Reading(ca_pem);
  int count = 0;
  while (const Certificate certificate = ReadCertificate(bio.get())) {
    if (::X509_STORE_add_cert(::SSL_CTX_get_cert_store(context), certificate.get()) != 1) {
      return Invalid("certificate authority");
    }
    ++count;
  }
  if (count == 0 || !EndedWell()) return Invalid("certificate authority");
  return {};
}

// Uses the first certificate in `pem` as the client's own, and the others as intermediate ones.
Result<> UseCertificate(SSL_CTX* context, const std::string& pem) {
  const Bio bio = Reading(pem);
  const Certificate own = ReadCertificate(bio.get());
  if (own == nullptr || ::SSL_CTX_use_certificate(context, own.get()) != 1)
    return Invalid("client certificate");
  while (const Certificate next = ReadCertificate(bio.get())) {
    if (::SSL_CTX_add1_chain_cert(context, next.get()) != 1) return Invalid("client certificate");
  }
  if (!EndedWell()) return Invalid("client certificate");
  return {};
}

Result<> UseKey(SSL_CTX* context, const std::string& pem) {
  const Key key = ReadKey(pem);
  if (key == nullptr || ::SSL_CTX_use_PrivateKey(context, key.get()) != 1)
    return Invalid("client key");
  if (::SSL_CTX_check_private_key(context) != 1)
    return Invalid("client certificate and key do not match");
  return {};
}

// Refuses all clients except the one named tls.client_name. Only the certificate's DNS names count:
// the subject is for human readers, and a wildcard identifies no client.
Result<> RequireClient(SSL_CTX* context, const ServerTls& tls) {
  if (::SSL_CTX_load_verify_file(context, tls.client_ca_file.c_str()) != 1) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("clients' authority {}: {}", tls.client_ca_file, TlsProblem()));
  }
  ::SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  X509_VERIFY_PARAM* const rules = ::SSL_CTX_get0_param(context);
  ::X509_VERIFY_PARAM_set_hostflags(
      rules, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_WILDCARDS);
  if (::X509_VERIFY_PARAM_set1_host(rules, tls.client_name.data(), tls.client_name.size()) != 1)
    return Invalid("client name");
  return {};
}

Result<> UseFiles(SSL_CTX* context, const ServerTls& tls) {
  if (::SSL_CTX_use_certificate_chain_file(context, tls.certificate_file.c_str()) != 1) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("certificate {}: {}", tls.certificate_file, TlsProblem()));
  }
  // This also checks that the key matches the certificate.
  if (::SSL_CTX_use_PrivateKey_file(context, tls.key_file.c_str(), SSL_FILETYPE_PEM) != 1)
    return Fail(ErrorCode::kInvalid, fmt::format("key {}: {}", tls.key_file, TlsProblem()));
  return {};
}

// Longer than any process runs.
constexpr long kOwnValidity = 10L * 365 * 86400;

// Uses a self-signed certificate without a host name.
Result<> UseOwn(SSL_CTX* context) {
  const Key key(::EVP_EC_gen("P-256"));
  const Certificate certificate(::X509_new());
  if (key == nullptr || certificate == nullptr) return Invalid("a certificate of its own");
  X509_NAME* const name = ::X509_get_subject_name(certificate.get());
  const auto* const words = reinterpret_cast<const unsigned char*>("self-signed");
  if (::X509_set_version(certificate.get(), X509_VERSION_3) != 1 ||
      ::ASN1_INTEGER_set(::X509_get_serialNumber(certificate.get()), 1) != 1 ||
      ::X509_gmtime_adj(::X509_getm_notBefore(certificate.get()), -3600) == nullptr ||
      ::X509_gmtime_adj(::X509_getm_notAfter(certificate.get()), kOwnValidity) == nullptr ||
      ::X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, words, -1, -1, 0) != 1 ||
      ::X509_set_issuer_name(certificate.get(), name) != 1 ||
      ::X509_set_pubkey(certificate.get(), key.get()) != 1 ||
      ::X509_sign(certificate.get(), key.get(), ::EVP_sha256()) == 0 ||
      ::SSL_CTX_use_certificate(context, certificate.get()) != 1 ||
      ::SSL_CTX_use_PrivateKey(context, key.get()) != 1) {
    return Invalid("a certificate of its own");
  }
  return {};
}

bool IsAddress(const std::string& name) {
  unsigned char address[sizeof(in6_addr)];
  return ::inet_pton(AF_INET, name.c_str(), address) == 1 ||
         ::inet_pton(AF_INET6, name.c_str(), address) == 1;
}

}  // namespace

void TlsSessionDeleter::operator()(ssl_st* session) const { ::SSL_free(session); }

Result<TlsContext> MakeServerContext(const ServerTls& tls) {
  TlsContext context = MakeContext(::TLS_server_method());
  if (context == nullptr) return Invalid("TLS");
  // No client of these servers resumes sessions: kube-scheduler and the kubelet keep their
  // connections open instead.
  ::SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  ::SSL_CTX_set_options(context.get(), SSL_OP_NO_TICKET);
  ::SSL_CTX_set_num_tickets(context.get(), 0);
  const Result<> used =
      tls.certificate_file.empty() ? UseOwn(context.get()) : UseFiles(context.get(), tls);
  if (!used) return Fail(used.error());
  if (!tls.client_ca_file.empty()) {
    if (const Result<> required = RequireClient(context.get(), tls); !required)
      return Fail(required.error());
  }
  return context;
}

std::optional<WallTime> ExpiryOf(const TlsContext& context) {
  const X509* const certificate = ::SSL_CTX_get0_certificate(context.get());
  if (certificate == nullptr) return std::nullopt;
  return ToWallTime(::X509_get0_notAfter(certificate));
}

Result<TlsContext> MakeClientContext(const ClientTls& tls) {
  if (tls.certificate_pem.empty() != tls.key_pem.empty()) {
    return Fail(ErrorCode::kInvalid, "set both the client certificate and its key, or neither");
  }
  TlsContext context = MakeContext(::TLS_client_method());
  if (context == nullptr) return Invalid("TLS");
  // A process with thousands of open connections must not keep buffers for the idle ones.
  ::SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS);
  if (!tls.skip_verify) {
    ::SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
    if (const Result<> trusted = Trust(context.get(), tls.ca_pem); !trusted)
      return Fail(trusted.error());
  }
  if (!tls.certificate_pem.empty()) {
    if (const Result<> used = UseCertificate(context.get(), tls.certificate_pem); !used)
      return Fail(used.error());
    if (const Result<> used = UseKey(context.get(), tls.key_pem); !used) return Fail(used.error());
  }
  return context;
}

Result<TlsContext> MakeProxyContext(const ClientTls& tls) {
  Result<TlsContext> context =
      MakeClientContext({.ca_pem = tls.ca_pem, .skip_verify = tls.skip_verify});
  if (!context || tls.skip_verify || tls.ca_pem.empty()) return context;
  if (const Result<> trusted = TrustSystem(context->get()); !trusted) return Fail(trusted.error());
  return context;
}

TlsSession MakeSession(const TlsContext& context, int fd) {
  ::ERR_clear_error();
  TlsSession session(::SSL_new(context.get()));
  if (session != nullptr && ::SSL_set_fd(session.get(), fd) != 1) session.reset();
  return session;
}

TlsSession MakeSession(const TlsContext& context, TlsSession outer) {
  ::ERR_clear_error();
  TlsSession session(::SSL_new(context.get()));
  BIO* const through = session != nullptr ? ::BIO_new(::BIO_f_ssl()) : nullptr;
  if (through == nullptr) return nullptr;
  ::BIO_set_ssl(through, outer.release(), BIO_CLOSE);
  ::SSL_set_bio(session.get(), through, through);
  return session;
}

bool ExpectServer(ssl_st* session, const std::string& name, bool verify) {
  const bool address = IsAddress(name);
  // SNI carries only names (RFC 6066, section 3).
  if (!address && ::SSL_set_tlsext_host_name(session, name.c_str()) != 1) return false;
  if (!verify) return true;
  if (address) return ::X509_VERIFY_PARAM_set1_ip_asc(::SSL_get0_param(session), name.c_str()) == 1;
  ::SSL_set_hostflags(session, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  return ::SSL_set1_host(session, name.c_str()) == 1;
}

std::string TlsProblem() {
  std::string text;
  // The last error is closest to the caller's operation; the first is the cause.
  while (const unsigned long error = ::ERR_get_error()) {
    char line[256];
    const char* reason = ::ERR_reason_error_string(error);
    if (reason == nullptr) {
      ::ERR_error_string_n(error, line, sizeof(line));
      reason = line;
    }
    if (!text.empty()) text += ", ";
    text += reason;
  }
  return text.empty() ? "TLS failed" : text;
}

}  // namespace synergy::http
