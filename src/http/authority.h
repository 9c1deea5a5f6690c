#pragma once

// Issues certificates for a process and its peers: an authority, whose key is deleted at once, and
// the certificates that it signs. Also checks such certificates.
//
// Threading: pure, except for the random keys. Failures: kInvalid with OpenSSL's text, which never
// contains a key.

#include <string>
#include <vector>

#include "core/clock.h"
#include "core/result.h"

namespace synergy::http {

struct CertifiedKey {
  std::string certificate_pem;
  std::string key_pem;
};

struct IssuedCertificates {
  std::string authority_pem;
  std::vector<CertifiedKey> keys;  // in the order of the names
};

struct Validity {
  WallTime from;
  WallTime until;
};

// Makes an authority and, for each list of DNS names, a certificate with these names for servers
// and clients, with a P-256 key. All are valid for the same time. REQUIRES: no list is empty.
Result<IssuedCertificates> IssueCertificates(const std::vector<std::vector<std::string>>& names,
                                             Validity validity);

// Returns the validity of the certificate, which may have expired. Returns kInvalid if the key
// belongs to another certificate, none of the `authorities` (PEM, one or more) has signed it, or it
// lacks one of the DNS names.
Result<Validity> CheckCertificate(const CertifiedKey& key, const std::string& authorities,
                                  const std::vector<std::string>& names);

// Returns the first two authorities in `pem` that have not expired at `at`, as PEM text.
std::string ValidAuthorities(const std::string& pem, WallTime at);

}  // namespace synergy::http
