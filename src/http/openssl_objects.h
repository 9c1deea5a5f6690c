#pragma once

// Smart pointers for OpenSSL's objects, and functions that read PEM text and times. Private to this
// folder.
//
// Threading: as in OpenSSL, an object has one owner at a time.
//
// This file is separate because only TLS (tls.h) and the issuing of certificates (authority.h)
// share it.

#include <chrono>
#include <ctime>
#include <memory>
#include <optional>
#include <string>

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "core/clock.h"

namespace synergy::http {

template <auto kFree>
struct FreedBy {
  template <class T>
  void operator()(T* object) const {
    kFree(object);
  }
};
using Bio = std::unique_ptr<BIO, FreedBy<::BIO_free_all>>;
using Certificate = std::unique_ptr<X509, FreedBy<::X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, FreedBy<::EVP_PKEY_free>>;

// Refuses encrypted keys. Without this function, OpenSSL would ask for a pass phrase on the
// terminal.
inline int NoPassPhrase(char*, int, int, void*) { return 0; }

// Returns a reader of `pem`, which must outlive the result.
inline Bio Reading(const std::string& pem) {
  return Bio(::BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
}

// Return null, with OpenSSL's error, if there is nothing to read.
inline Certificate ReadCertificate(BIO* bio) {
  return Certificate(::PEM_read_bio_X509(bio, nullptr, NoPassPhrase, nullptr));
}
inline Key ReadKey(const std::string& pem) {
  return Key(::PEM_read_bio_PrivateKey(Reading(pem).get(), nullptr, NoPassPhrase, nullptr));
}

// Returns nullopt if the time is unreadable, or later than a WallTime can be.
inline std::optional<WallTime> ToWallTime(const ASN1_TIME* time) {
  std::tm fields{};
  if (::ASN1_TIME_to_tm(time, &fields) != 1) return std::nullopt;
  const std::chrono::seconds since_epoch(::timegm(&fields));
  if (since_epoch >= std::chrono::floor<std::chrono::seconds>(WallTime::duration::max()))
    return std::nullopt;
  return WallTime(since_epoch);
}

}  // namespace synergy::http
