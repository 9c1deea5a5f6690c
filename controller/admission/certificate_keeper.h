#pragma once

// Makes, serves and rotates the controller's own certificate and that of the node agents.
//
//   Secret (own) --- usable? --no--> new authority and keys, PATCH with the version that was read
//        |                                    |
//        +--> authorities of own webhooks <---+  (first: the API server must trust what is served)
//        +--> files, which the servers read again
//        +--> Secret of the node agents
//
// A rotation begins when a third of the validity is left, and has two steps. First, another
// authority becomes trusted everywhere, and its keys wait in the Secret as `next-*`; after kSpread
// they come into use. If the keys in use are unusable (deleted, expired, for other names), the new
// ones come into use at once. An authority's key is never kept, so the Secret holds no key that can
// issue certificates; earlier authorities stay trusted until they expire.
//
// All replicas do the same, and the Secret's version decides which replica's keys count, so no
// leader is needed.
//
// Threading: call Prepare() first; one thread calls Step(); any thread may call NotReadyReason().
// Failures: a failed step is repeated with backoff; meanwhile the old files are served. The content
// of the Secret is checked, and replaced if it is unusable.

#include <chrono>
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
#include "http/authority.h"
#include "kube/apis/certificate_api.h"

namespace synergy::controller {

struct CertificateSettings {
  std::string secret;              // name of the controller's own Secret, which must exist
  std::string agent_secret;        // name of the node agents' Secret; empty: none
  std::vector<std::string> names;  // the controller's DNS names
  std::string agent_name;          // the node agents' DNS name
  Duration validity = std::chrono::hours(24 * 365);
  // Written as PEM.
  std::string certificate_file;
  std::string key_file;
  std::string authority_file;
};

class CertificateKeeper {
 public:
  // Delay between successful steps.
  static constexpr Duration kInterval = std::chrono::seconds(5);
  // How long before its creation a certificate becomes valid, because other clocks may be behind.
  static constexpr Duration kClockSkew = std::chrono::hours(1);
  // How long the next authority is trusted before its certificates come into use. Kubelets deliver
  // a Secret within two minutes.
  static constexpr Duration kSpread = std::chrono::hours(1);

  // All references must outlive this object.
  CertificateKeeper(CertificateSettings settings, kube::CertificateApi& api, const Clock& clock,
                    Logger& log);

  // If the certificate, the key and the authority do not match, writes files with which servers can
  // start: an expired certificate that no client trusts. Returns kUnavailable if a file cannot be
  // written.
  Result<> Prepare();
  // Checks, replaces and distributes the certificates as needed. Returns the delay until the next
  // step.
  Duration Step(const std::stop_token& stop);
  // Returns why this replica is not ready; empty once the Secret's certificate is served and
  // trusted.
  std::string NotReadyReason() const;

 private:
  struct Keys {
    http::CertifiedKey own;
    http::CertifiedKey agents;
  };
  // The content of the controller's own Secret.
  struct Held {
    std::string authorities;  // PEM, newest first
    Keys used;
    Keys next;  // empty: no rotation is in progress
  };
  struct Change {
    Held held;
    const char* what;     // for the log
    std::string problem;  // problem of the previous content; empty: none
  };

  static Held ToHeld(const wire::Secret& secret);
  std::map<std::string, std::string> ToData(const Held& held) const;
  // Returns the time in which all of `keys` are valid; kInvalid if they cannot be used now.
  Result<http::Validity> Check(const Keys& keys, const std::string& authorities) const;
  // Returns the content that the Secret must get; nullopt if it may stay as it is.
  Result<std::optional<Change>> Plan(const Held& held) const;
  // Returns new keys, with their authority in front of those of `trusted` (PEM).
  Result<Held> Issue(const std::string& trusted, http::Validity validity) const;

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

  Backoff backoff_{std::chrono::seconds(1), std::chrono::seconds(30), 1};
  std::string problem_;  // the last step's problem, so that each is logged once

  mutable std::mutex mutex_;
  std::string not_ready_ = "no certificate yet";
};

}  // namespace synergy::controller
