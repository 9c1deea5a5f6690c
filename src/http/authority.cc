#include "http/authority.h"

#include <chrono>
#include <ctime>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include "http/openssl_objects.h"
#include "http/tls.h"

namespace synergy::http {
namespace {

using Extension = std::unique_ptr<X509_EXTENSION, FreedBy<::X509_EXTENSION_free>>;
using Store = std::unique_ptr<X509_STORE, FreedBy<::X509_STORE_free>>;
using StoreContext = std::unique_ptr<X509_STORE_CTX, FreedBy<::X509_STORE_CTX_free>>;

tl::unexpected<Error> Failed(const char* what) {
  return Fail(ErrorCode::kInvalid, fmt::format("{}: {}", what, TlsProblem()));
}

std::string Contents(BIO* bio) {
  char* data = nullptr;
  const long size = ::BIO_get_mem_data(bio, &data);
  return {data, static_cast<size_t>(size)};
}

// Returns an empty text if out of memory.
std::string CertificatePem(X509* certificate) {
  const Bio bio(::BIO_new(::BIO_s_mem()));
  return ::PEM_write_bio_X509(bio.get(), certificate) == 1 ? Contents(bio.get()) : std::string();
}

std::string KeyPem(EVP_PKEY* key) {
  const Bio bio(::BIO_new(::BIO_s_mem()));
  const bool written =
      ::PEM_write_bio_PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr) == 1;
  return written ? Contents(bio.get()) : std::string();
}

// Sets a serial number and a subject name that no other certificate has.
bool Identify(X509* certificate, const char* what) {
  unsigned char random[16];
  if (::RAND_bytes(random, sizeof random) != 1) return false;
  random[0] &= 0x7f;  // a serial number is positive
  std::string name = what;
  for (const unsigned char byte : random) name += fmt::format("{:02x}", byte);
  BIGNUM* const number = ::BN_bin2bn(random, sizeof random, nullptr);
  const bool numbered =
      number != nullptr &&
      ::BN_to_ASN1_INTEGER(number, ::X509_get_serialNumber(certificate)) != nullptr;
  ::BN_free(number);
  const auto* const text = reinterpret_cast<const unsigned char*>(name.data());
  return numbered &&
         ::X509_NAME_add_entry_by_txt(::X509_get_subject_name(certificate), "CN", MBSTRING_ASC,
                                      text, static_cast<int>(name.size()), -1, 0) == 1;
}

bool Extend(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  ::X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const Extension extension(::X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
  return extension != nullptr && ::X509_add_ext(certificate, extension.get(), -1) == 1;
}

std::time_t ToTime(WallTime time) {
  return std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
}

struct Signer {
  X509* certificate;  // null: the new certificate is self-signed
  EVP_PKEY* key;
};

// Returns a certificate for `key` with these extensions, in this order.
Result<Certificate> Sign(EVP_PKEY* key, const char* what, Validity validity, Signer signer,
                         const std::vector<std::pair<int, std::string>>& extensions) {
  Certificate certificate(::X509_new());
  if (certificate == nullptr || ::X509_set_version(certificate.get(), X509_VERSION_3) != 1 ||
      !Identify(certificate.get(), what) ||
      ::ASN1_TIME_set(::X509_getm_notBefore(certificate.get()), ToTime(validity.from)) == nullptr ||
      ::ASN1_TIME_set(::X509_getm_notAfter(certificate.get()), ToTime(validity.until)) == nullptr ||
      ::X509_set_pubkey(certificate.get(), key) != 1)
    return Failed(what);
  X509* const issuer = signer.certificate != nullptr ? signer.certificate : certificate.get();
  if (::X509_set_issuer_name(certificate.get(), ::X509_get_subject_name(issuer)) != 1)
    return Failed(what);
  for (const auto& [kind, value] : extensions) {
    if (!Extend(certificate.get(), issuer, kind, value)) return Failed(what);
  }
  if (::X509_sign(certificate.get(), signer.key, ::EVP_sha256()) == 0) return Failed(what);
  return certificate;
}

}  // namespace

Result<IssuedCertificates> IssueCertificates(const std::vector<std::vector<std::string>>& names,
                                             Validity validity) {
  ::ERR_clear_error();
  const Key key(::EVP_EC_gen("P-256"));
  if (key == nullptr) return Failed("an authority's key");
  const auto authority = Sign(key.get(), "synergy-authority-", validity, {nullptr, key.get()},
                              {{NID_basic_constraints, "critical,CA:TRUE,pathlen:0"},
                               {NID_key_usage, "critical,keyCertSign,cRLSign"},
                               {NID_subject_key_identifier, "hash"}});
  if (!authority) return Fail(authority.error());
  IssuedCertificates issued;
  issued.authority_pem = CertificatePem(authority->get());
  for (const std::vector<std::string>& list : names) {
    std::string alternatives;
    for (const std::string& name : list)
      alternatives += (alternatives.empty() ? "DNS:" : ",DNS:") + name;
    const Key own(::EVP_EC_gen("P-256"));
    if (own == nullptr) return Failed("a certificate's key");
    const auto certificate = Sign(own.get(), "synergy-", validity, {authority->get(), key.get()},
                                  {{NID_basic_constraints, "critical,CA:FALSE"},
                                   {NID_key_usage, "critical,digitalSignature"},
                                   {NID_ext_key_usage, "serverAuth,clientAuth"},
                                   {NID_subject_key_identifier, "hash"},
                                   {NID_authority_key_identifier, "keyid:always"},
                                   {NID_subject_alt_name, alternatives}});
    if (!certificate) return Fail(certificate.error());
    issued.keys.push_back({CertificatePem(certificate->get()), KeyPem(own.get())});
  }
  return issued;
}

Result<Validity> CheckCertificate(const CertifiedKey& key, const std::string& authorities,
                                  const std::vector<std::string>& names) {
  ::ERR_clear_error();
  const Certificate certificate = ReadCertificate(Reading(key.certificate_pem).get());
  if (certificate == nullptr) return Failed("certificate");
  const Key own = ReadKey(key.key_pem);
  if (own == nullptr || ::X509_check_private_key(certificate.get(), own.get()) != 1)
    return Failed("key of the certificate");
  const Store store(::X509_STORE_new());
  const Bio bio = Reading(authorities);
  while (const Certificate authority = ReadCertificate(bio.get()))
    ::X509_STORE_add_cert(store.get(), authority.get());
  ::X509_STORE_set_flags(store.get(), X509_V_FLAG_NO_CHECK_TIME);
  const StoreContext context(::X509_STORE_CTX_new());
  if (::X509_STORE_CTX_init(context.get(), store.get(), certificate.get(), nullptr) != 1 ||
      ::X509_verify_cert(context.get()) != 1)
    return Fail(ErrorCode::kInvalid, "no authority has signed the certificate");
  for (const std::string& name : names) {
    if (::X509_check_host(certificate.get(), name.data(), name.size(), 0, nullptr) != 1)
      return Fail(ErrorCode::kInvalid, fmt::format("the certificate is not for {}", name));
  }
  const auto from = ToWallTime(::X509_get0_notBefore(certificate.get()));
  const auto until = ToWallTime(::X509_get0_notAfter(certificate.get()));
  ::ERR_clear_error();
  if (!from || !until) return Fail(ErrorCode::kInvalid, "the certificate's times are unreadable");
  return Validity{*from, *until};
}

std::string ValidAuthorities(const std::string& pem, WallTime at) {
  std::string valid;
  int count = 0;
  const Bio bio = Reading(pem);
  while (const Certificate certificate = ReadCertificate(bio.get())) {
    const auto until = ToWallTime(::X509_get0_notAfter(certificate.get()));
    if (!until || *until <= at || ::X509_check_ca(certificate.get()) != 1) continue;
    valid += CertificatePem(certificate.get());
    if (++count == 2) break;
  }
  ::ERR_clear_error();
  return valid;
}

}  // namespace synergy::http
