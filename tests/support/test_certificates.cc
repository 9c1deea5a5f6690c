#include "support/test_certificates.h"

#include <atomic>

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "core/check.h"

namespace synergy::testing {
namespace {

constexpr long kValidSeconds = 24 * 60 * 60;

std::shared_ptr<EVP_PKEY> MakeKey() {
  std::shared_ptr<EVP_PKEY> key(::EVP_EC_gen("P-256"), ::EVP_PKEY_free);
  SYNERGY_CHECK(key != nullptr, "a key can be made");
  return key;
}

template <class Write>
std::string ToPem(Write write) {
  const std::unique_ptr<BIO, decltype(&::BIO_free)> bio(::BIO_new(::BIO_s_mem()), ::BIO_free);
  SYNERGY_CHECK(write(bio.get()) == 1, "PEM can be written");
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<size_t>(size)};
}

void AddExtension(X509* certificate, X509* issuer, int id, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = ::X509V3_EXT_conf_nid(nullptr, &context, id, value.c_str());
  SYNERGY_CHECK(extension != nullptr, "an extension is well-formed");
  ::X509_add_ext(certificate, extension, -1);
  ::X509_EXTENSION_free(extension);
}

std::shared_ptr<X509> MakeCertificate(const std::string& name, EVP_PKEY* key) {
  static std::atomic<long> serial = 1;
  std::shared_ptr<X509> certificate(::X509_new(), ::X509_free);
  ::X509_set_version(certificate.get(), X509_VERSION_3);
  ::ASN1_INTEGER_set(::X509_get_serialNumber(certificate.get()), serial++);
  ::X509_gmtime_adj(::X509_getm_notBefore(certificate.get()), -60);
  ::X509_gmtime_adj(::X509_getm_notAfter(certificate.get()), kValidSeconds);
  ::X509_set_pubkey(certificate.get(), key);
  ::X509_NAME_add_entry_by_txt(::X509_get_subject_name(certificate.get()), "CN", MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  return certificate;
}

}  // namespace

TestAuthority::TestAuthority(const std::string& name)
    : key_(MakeKey()), certificate_(MakeCertificate(name, key_.get())) {
  ::X509_set_issuer_name(certificate_.get(), ::X509_get_subject_name(certificate_.get()));
  AddExtension(certificate_.get(), certificate_.get(), NID_basic_constraints, "critical,CA:TRUE");
  AddExtension(certificate_.get(), certificate_.get(), NID_key_usage, "critical,keyCertSign");
  SYNERGY_CHECK(::X509_sign(certificate_.get(), key_.get(), ::EVP_sha256()) > 0,
                "a certificate can be signed");
  certificate_pem_ =
      ToPem([this](BIO* bio) { return ::PEM_write_bio_X509(bio, certificate_.get()); });
}

TestAuthority::~TestAuthority() = default;

TestCertificate TestAuthority::Issue(const std::string& common_name,
                                     const std::vector<std::string>& alternative_names) const {
  const std::shared_ptr<EVP_PKEY> key = MakeKey();
  const std::shared_ptr<X509> certificate = MakeCertificate(common_name, key.get());
  ::X509_set_issuer_name(certificate.get(), ::X509_get_subject_name(certificate_.get()));
  std::string names;
  for (const std::string& name : alternative_names) names += (names.empty() ? "" : ",") + name;
  if (!names.empty())
    AddExtension(certificate.get(), certificate_.get(), NID_subject_alt_name, names);
  SYNERGY_CHECK(::X509_sign(certificate.get(), key_.get(), ::EVP_sha256()) > 0,
                "a certificate can be signed");
  return {ToPem([&](BIO* bio) { return ::PEM_write_bio_X509(bio, certificate.get()); }),
          ToPem([&](BIO* bio) {
            return ::PEM_write_bio_PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr,
                                              nullptr);
          })};
}

}  // namespace synergy::testing
