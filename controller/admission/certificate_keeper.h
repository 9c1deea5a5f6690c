#pragma once

// Makes, serves and rotates the controller's own certificate, and that of the node agents.
//
//   Secret (own) --- usable? --no--> new authority and keys, PATCH with the version that was read
//        |                                    |
//        +--> authorities of own webhooks <---+  (first: the API server must trust what is served)
//        +--> files, which the servers read again
//        +--> Secret of the node agents
//
// A rotation begins when a third of the validity is left, and has two steps. First another
// authority is trusted everywhere, and its keys wait in the Secret as `next-*`; after
// kSpread they are used. Where the keys in use are of no use (deleted, expired, for other names),
// the new ones are used at once. An authority's key is never kept, so the Secret holds no key that
// issues certificates; authorities before stay trusted until they expire.
//
// All replicas do the same; the Secret's version decides whose keys count, so no leader is needed.
//
// Threading: Prepare() first; Step() by one thread; NotReadyReason() from any thread.
// Failures: a step that fails is repeated, with backoff; meanwhile the old files are served. What
// the Secret contains is checked, and replaced if it is unusable.

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
  static constexpr Duration kInterval = std::chrono::seconds(5);
  // Time from which a certificate is valid before it is made: other clocks may be behind.
  static constexpr Duration kClockSkew = std::chrono::hours(1);
  // Time for which the next authority is trusted before its certificates are used. Kubelets bring
  // a Secret within two minutes.
  static constexpr Duration kSpread = std::chrono::hours(1);

  // All references outlive this.
  CertificateKeeper(CertificateSettings settings, kube::CertificateApi& api, const Clock& clock,
                    Logger& log);

  // Writes the files unless they fit together, so that servers can start: with a certificate that
  // has expired and that nothing trusts. kUnavailable: a file cannot be written.
  Result<> Prepare();
  // Returns when the next step is due.
  Duration Step(const std::stop_token& stop);
  // Empty once the certificate of the Secret is served and trusted.
  std::string NotReadyReason() const;

 private:
  struct Keys {
    http::CertifiedKey own;
    http::CertifiedKey agents;
  };
  // The content of the own Secret.
  struct Held {
    std::string authorities;  // PEM, the newest first
    Keys used;
    Keys next;  // empty: no rotation is under way
  };
  struct Change {
    Held held;
    const char* what;     // for the log
    std::string problem;  // of what was held; empty: none
  };

  static Held ToHeld(const wire::Secret& secret);
  std::map<std::string, std::string> ToData(const Held& held) const;
  // Returns the validity of keys that can be used now.
  Result<http::Validity> Check(const Keys& keys, const std::string& authorities) const;
  // Returns what the Secret has to hold instead; none: it stays.
  Result<std::optional<Change>> Plan(const Held& held) const;
  // Returns new keys, and their authority in front of those of `trusted` (PEM).
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
  std::string problem_;  // of the last step, so that each is logged once

  mutable std::mutex mutex_;
  std::string not_ready_ = "no certificate yet";
};

}  // namespace synergy::controller
