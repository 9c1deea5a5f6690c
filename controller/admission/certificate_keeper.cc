#include "controller/admission/certificate_keeper.h"

#include <algorithm>
#include <utility>

#include "config/text_file.h"

namespace synergy::controller {
namespace {

// The keys of the data in the controller's own Secret. The node agents' Secret has the first three.
constexpr char kAuthorities[] = "ca.crt";
constexpr char kCertificate[] = "tls.crt";
constexpr char kKey[] = "tls.key";
constexpr char kAgentCertificate[] = "agent.crt";
constexpr char kAgentKey[] = "agent.key";
constexpr char kNextCertificate[] = "next-tls.crt";
constexpr char kNextKey[] = "next-tls.key";
constexpr char kNextAgentCertificate[] = "next-agent.crt";
constexpr char kNextAgentKey[] = "next-agent.key";

std::string ContentsOf(const std::string& file) {
  return config::ReadTextFile(file).value_or(std::string());
}

Result<> Replace(const std::string& file, const std::string& text) {
  if (ContentsOf(file) == text) return {};
  return config::WritePrivateFile(file, text);
}

std::string Find(const wire::Secret& secret, const std::string& key) {
  const auto found = secret.data.find(key);
  return found == secret.data.end() ? std::string() : found->second;
}

}  // namespace

CertificateKeeper::CertificateKeeper(CertificateSettings settings, kube::CertificateApi& api,
                                     const Clock& clock, Logger& log)
    : settings_(std::move(settings)), api_(api), clock_(clock), log_(log) {}

Result<> CertificateKeeper::Prepare() {
  const http::CertifiedKey served = {ContentsOf(settings_.certificate_file),
                                     ContentsOf(settings_.key_file)};
  if (http::CheckCertificate(served, ContentsOf(settings_.authority_file), {})) return {};
  const WallTime now = clock_.WallNow();
  const Result<Held> expired = Issue({}, {now - 2 * kClockSkew, now - kClockSkew});
  if (!expired) return Fail(expired.error());
  return WriteFiles(*expired);
}

Duration CertificateKeeper::Step(const std::stop_token& stop) {
  const Result<> done = Synchronize(stop);
  if (!done) {
    const std::string& problem = done.error().message;
    const bool conflict = done.error().code == ErrorCode::kConflict;
    if (!conflict && std::exchange(problem_, problem) != problem)
      log_.Warn("cannot keep the certificate", {{"error", problem}});
    const std::lock_guard lock(mutex_);
    if (!not_ready_.empty()) not_ready_ = "no certificate yet: " + problem;
    return backoff_.Next();
  }
  problem_.clear();
  backoff_.Reset();
  const std::lock_guard lock(mutex_);
  not_ready_.clear();
  return kInterval;
}

std::string CertificateKeeper::NotReadyReason() const {
  const std::lock_guard lock(mutex_);
  return not_ready_;
}

CertificateKeeper::Held CertificateKeeper::ToHeld(const wire::Secret& secret) {
  return {.authorities = Find(secret, kAuthorities),
          .used = {.own = {Find(secret, kCertificate), Find(secret, kKey)},
                   .agents = {Find(secret, kAgentCertificate), Find(secret, kAgentKey)}},
          .next = {.own = {Find(secret, kNextCertificate), Find(secret, kNextKey)},
                   .agents = {Find(secret, kNextAgentCertificate), Find(secret, kNextAgentKey)}}};
}

std::map<std::string, std::string> CertificateKeeper::ToData(const Held& held) const {
  return {{kAuthorities, held.authorities},
          {kCertificate, held.used.own.certificate_pem},
          {kKey, held.used.own.key_pem},
          {kAgentCertificate, held.used.agents.certificate_pem},
          {kAgentKey, held.used.agents.key_pem},
          {kNextCertificate, held.next.own.certificate_pem},
          {kNextKey, held.next.own.key_pem},
          {kNextAgentCertificate, held.next.agents.certificate_pem},
          {kNextAgentKey, held.next.agents.key_pem}};
}

Result<http::Validity> CertificateKeeper::Check(const Keys& keys,
                                                const std::string& authorities) const {
  const WallTime now = clock_.WallNow();
  const auto check = [&](const http::CertifiedKey& key,
                         const std::vector<std::string>& names) -> Result<http::Validity> {
    auto validity = http::CheckCertificate(key, authorities, names);
    if (!validity) return validity;
    if (now < validity->from) return Fail(ErrorCode::kInvalid, "the certificate is not valid yet");
    if (now >= validity->until) return Fail(ErrorCode::kInvalid, "the certificate has expired");
    return validity;
  };
  Result<http::Validity> own = check(keys.own, settings_.names);
  if (!own || settings_.agent_secret.empty()) return own;
  const Result<http::Validity> agents = check(keys.agents, {settings_.agent_name});
  if (!agents) return Fail(agents.error().code, "node agents: " + agents.error().message);
  return http::Validity{std::max(own->from, agents->from), std::min(own->until, agents->until)};
}

Result<std::optional<CertificateKeeper::Change>> CertificateKeeper::Plan(const Held& held) const {
  const WallTime now = clock_.WallNow();
  const Result<http::Validity> used = Check(held.used, held.authorities);
  if (used && now + (used->until - used->from) / 3 < used->until) return std::nullopt;
  const Result<http::Validity> next = Check(held.next, held.authorities);
  if (used && next && now < next->from + kClockSkew + kSpread) return std::nullopt;
  if (next) return Change{{held.authorities, held.next, {}}, "uses the next certificate", {}};

  // The served certificate stays trusted, even if the Secret's data was deleted.
  std::string trusted = http::ValidAuthorities(held.authorities, now);
  if (trusted.empty()) trusted = http::ValidAuthorities(ContentsOf(settings_.authority_file), now);
  Result<Held> issued = Issue(trusted, {now - kClockSkew, now + settings_.validity});
  if (!issued) return Fail(issued.error());
  if (used) {
    issued->next = std::exchange(issued->used, held.used);
    return Change{*std::move(issued), "made the next certificate", {}};
  }
  const bool empty = held.used.own.certificate_pem.empty();
  return Change{*std::move(issued), "made a certificate", empty ? "" : used.error().message};
}

Result<CertificateKeeper::Held> CertificateKeeper::Issue(const std::string& trusted,
                                                         http::Validity validity) const {
  std::vector<std::vector<std::string>> names = {settings_.names};
  if (!settings_.agent_secret.empty()) names.push_back({settings_.agent_name});
  auto issued = http::IssueCertificates(names, validity);
  if (!issued) return Fail(issued.error());
  Held held;
  held.authorities = issued->authority_pem + trusted;
  held.used.own = std::move(issued->keys.front());
  if (!settings_.agent_secret.empty()) held.used.agents = std::move(issued->keys.back());
  return held;
}

Result<> CertificateKeeper::Synchronize(const std::stop_token& stop) {
  const Result<wire::Secret> secret = api_.ReadSecret(settings_.secret, stop);
  if (!secret) return Fail(secret.error());
  Held held = ToHeld(*secret);
  Result<std::optional<Change>> change = Plan(held);
  if (!change) return Fail(change.error());
  if (*change) {
    // On a conflict another replica was first, and the next step takes over its certificate.
    const Result<> written =
        api_.WriteSecret(settings_.secret, *secret, ToData((*change)->held), stop);
    if (!written) return written;
    if ((*change)->problem.empty()) {
      log_.Info((*change)->what, {{"secret", settings_.secret}});
    } else {
      log_.Warn((*change)->what, {{"secret", settings_.secret}, {"unusable", (*change)->problem}});
    }
    held = std::move((*change)->held);
  }
  if (const Result<> trusted = WriteAuthorities(held.authorities, stop); !trusted) return trusted;
  if (const Result<> served = WriteFiles(held); !served) return served;
  return WriteAgentSecret(held, stop);
}

Result<> CertificateKeeper::WriteAuthorities(const std::string& pem, const std::stop_token& stop) {
  for (const kube::WebhookKind kind :
       {kube::WebhookKind::kMutating, kube::WebhookKind::kValidating}) {
    // Try twice, because another replica may write the same object at the same time.
    Result<> done = WriteAuthorities(kind, pem, stop);
    if (!done) done = WriteAuthorities(kind, pem, stop);
    if (!done) return done;
  }
  return {};
}

Result<> CertificateKeeper::WriteAuthorities(kube::WebhookKind kind, const std::string& pem,
                                             const std::stop_token& stop) {
  const auto seen = api_.ReadAuthorities(kind, stop);
  // Without a webhook configuration, nothing needs to trust the certificate.
  if (!seen && seen.error().code == ErrorCode::kNotFound) return {};
  if (!seen) return Fail(seen.error());
  const bool same =
      std::ranges::all_of(seen->bundles, [&](const std::string& bundle) { return bundle == pem; });
  if (same) return {};
  return api_.WriteAuthorities(kind, *seen, pem, stop);
}

Result<> CertificateKeeper::WriteAgentSecret(const Held& held, const std::stop_token& stop) {
  if (settings_.agent_secret.empty()) return {};
  const Result<wire::Secret> seen = api_.ReadSecret(settings_.agent_secret, stop);
  if (!seen) return Fail(seen.error());
  const std::map<std::string, std::string> data = {{kAuthorities, held.authorities},
                                                   {kCertificate, held.used.agents.certificate_pem},
                                                   {kKey, held.used.agents.key_pem}};
  const bool same = std::ranges::all_of(
      data, [&](const auto& entry) { return Find(*seen, entry.first) == entry.second; });
  if (same) return {};
  return api_.WriteSecret(settings_.agent_secret, *seen, data, stop);
}

Result<> CertificateKeeper::WriteFiles(const Held& held) const {
  // Write the authorities first, because clients here must trust the certificates that peers may
  // already present.
  for (const auto& [file, text] :
       {std::pair(&settings_.authority_file, &held.authorities),
        std::pair(&settings_.key_file, &held.used.own.key_pem),
        std::pair(&settings_.certificate_file, &held.used.own.certificate_pem)}) {
    if (const Result<> replaced = Replace(*file, *text); !replaced) return replaced;
  }
  return {};
}

}  // namespace synergy::controller
