#pragma once

// Certificates that a process issues for itself and its peers: an authority, whose key is deleted
// at once, and the certificates that it signs. Checks such certificates, too.
//
// Threading: pure, but for the random keys.
// Failures: kInvalid with OpenSSL's words, which never contain a key.

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

// Makes an authority and, for each list of DNS names, a certificate of these names for servers and
// clients, with a key of P-256. All are valid for the same time. REQUIRES: no list is empty.
Result<IssuedCertificates> IssueCertificates(const std::vector<std::vector<std::string>>& names,
                                             Validity validity);

// Returns the validity of the certificate, whatever the time is. kInvalid: the key is another
// one's, none of the `authorities` (PEM, one or more) has signed it, or it lacks one of the DNS
// names.
Result<Validity> CheckCertificate(const CertifiedKey& key, const std::string& authorities,
                                  const std::vector<std::string>& names);

// Returns those authorities of a PEM text that have not expired, at most the first two.
std::string ValidAuthorities(const std::string& pem, WallTime at);

}  // namespace synergy::http
