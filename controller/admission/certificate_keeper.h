#pragma once

// Makes, serves and rotates the controller's own certificate, and that of the node agents.
//
//   Secret (own) --- usable? --no--> new authority and keys, PATCH with the version that was read
//        |                                    |
//        +--> authorities of own webhooks <---+    (first: the API server must trust what is
//        served)
//        +--> files, which the servers read again
//        +--> Secret of the node agents
//
// All replicas do the same; the Secret's version decides whose keys count, so no leader is needed.
// An authority's key is never kept: each rotation makes another authority, and the one before stays
// trusted until the next. A rotation begins when a third of the validity is left.
//
// Threading: Prepare() first; Step() by one thread; NotReadyReason() from any thread.
// Failures: a step that fails is repeated, with backoff; meanwhile the old files are served. What
// the Secret contains is checked: a certificate of other names or another authority is replaced.

#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/backoff.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/result.h"
#include "http/issued_certificates.h"
#include "kube/apis/certificate_api.h"

namespace synergy::controller {

struct CertificateSettings {
  std::string secret;              // name of the own Secret, which exists
  std::string agent_secret;        // of the node agents' Secret; empty: there are none
  std::vector<std::string> names;  // the controller's DNS names
  std::string agent_name;          // the node agents'
  Duration validity = std::chrono::hours(24 * 365);
  // Written as PEM.
  std::string certificate_file;
  std::string key_file;
  std::string authority_file;
};

class CertificateKeeper {
 public:
  // Delay between steps that succeed.
  static constexpr Duration kInterval = std::chrono::seconds(30);

  // All references outlive this.
  CertificateKeeper(CertificateSettings settings, kube::CertificateApi& api, const Clock& clock,
                    Logger& log);

  // Writes the files unless they fit together, so that servers can start: with a certificate that
  // has expired and that nothing trusts. kInvalid: a file cannot be written.
  Result<> Prepare();
  // Returns when the next step is due.
  Duration Step(const std::stop_token& stop);
  // Empty once the certificate of the Secret is served and trusted.
  std::string NotReadyReason() const;

 private:
  // The content of the own Secret.
  struct Held {
    std::string authorities;  // PEM, the newest first
    http::CertifiedKey own;
    http::CertifiedKey agents;
  };

  static Held ToHeld(const wire::Secret& secret);
  std::map<std::string, std::string> ToData(const Held& held) const;
  bool IsUsable(const Held& held) const;
  // `before` is trusted as well, if it is an authority at all.
  Result<Held> Issue(const Held& before) const;
  Result<Held> Issue(const Held& before, http::Validity validity) const;
  Result<> Synchronize(const std::stop_token& stop);
  Result<> WriteAuthorities(const std::string& pem, const std::stop_token& stop);
  Result<> WriteAuthorities(kube::WebhookKind kind, const std::string& pem,
                            const std::stop_token& stop);
  Result<> WriteAgentSecret(const Held& held, const std::stop_token& stop);
  Result<> WriteFiles(const Held& held) const;

  const CertificateSettings settings_;
  kube::CertificateApi& api_;
  const Clock& clock_;
  Logger& log_;

  Backoff backoff_{std::chrono::seconds(1), kInterval, 1};
  std::string problem_;  // of the last step, so that each is logged once

  mutable std::mutex mutex_;
  std::string not_ready_ = "no certificate yet";
};

}  // namespace synergy::controller
