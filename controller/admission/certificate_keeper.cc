#include "controller/admission/certificate_keeper.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace synergy::controller {
namespace {

constexpr char kAuthorities[] = "ca.crt";
constexpr char kCertificate[] = "tls.crt";
constexpr char kKey[] = "tls.key";
constexpr char kAgentCertificate[] = "agent.crt";
constexpr char kAgentKey[] = "agent.key";

// Clocks of other machines may be behind.
constexpr Duration kClockSkew = std::chrono::hours(1);

std::string ContentsOf(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Replaces the file at once, readable by this account alone.
Result<> Replace(const std::string& file, const std::string& text) {
  if (ContentsOf(file) == text) return {};
  const std::string next = file + ".next";
  {
    std::ofstream out(next, std::ios::binary | std::ios::trunc);
    std::error_code ignored;
    std::filesystem::permissions(
        next, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write, ignored);
    out << text;
    if (!out.flush()) return Fail(ErrorCode::kInvalid, next + ": cannot be written");
  }
  std::error_code error;
  std::filesystem::rename(next, file, error);
  if (error) return Fail(ErrorCode::kInvalid, fmt::format("{}: {}", file, error.message()));
  return {};
}

std::string Find(const wire::Secret& secret, const char* key) {
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
          .own = {Find(secret, kCertificate), Find(secret, kKey)},
          .agents = {Find(secret, kAgentCertificate), Find(secret, kAgentKey)}};
}

std::map<std::string, std::string> CertificateKeeper::ToData(const Held& held) const {
  std::map<std::string, std::string> data = {{kAuthorities, held.authorities},
                                             {kCertificate, held.own.certificate_pem},
                                             {kKey, held.own.key_pem}};
  if (!settings_.agent_secret.empty()) {
    data[kAgentCertificate] = held.agents.certificate_pem;
    data[kAgentKey] = held.agents.key_pem;
  }
  return data;
}

bool CertificateKeeper::IsUsable(const Held& held) const {
  const WallTime now = clock_.WallNow();
  const auto lasts = [&](const http::CertifiedKey& key, const std::vector<std::string>& names) {
    const auto validity = http::CheckCertificate(key, held.authorities, names);
    return validity && validity->from <= now &&
           now + (validity->until - validity->from) / 3 < validity->until;
  };
  return lasts(held.own, settings_.names) &&
         (settings_.agent_secret.empty() || lasts(held.agents, {settings_.agent_name}));
}

Result<CertificateKeeper::Held> CertificateKeeper::Issue(const Held& before) const {
  const WallTime now = clock_.WallNow();
  return Issue(before, {now - kClockSkew, now + settings_.validity});
}

Result<CertificateKeeper::Held> CertificateKeeper::Issue(const Held& before,
                                                         http::Validity validity) const {
  std::vector<std::vector<std::string>> names = {settings_.names};
  if (!settings_.agent_secret.empty()) names.push_back({settings_.agent_name});
  auto issued = http::IssueCertificates(names, validity);
  if (!issued) return Fail(issued.error());
  Held held;
  held.authorities = issued->authority_pem + http::FirstCertificate(before.authorities);
  held.own = std::move(issued->keys.front());
  if (!settings_.agent_secret.empty()) held.agents = std::move(issued->keys.back());
  return held;
}

Result<> CertificateKeeper::Synchronize(const std::stop_token& stop) {
  const Result<wire::Secret> secret = api_.ReadSecret(settings_.secret, stop);
  if (!secret) return Fail(secret.error());
  Held held = ToHeld(*secret);
  if (!IsUsable(held)) {
    Result<Held> next = Issue(held);
    if (!next) return Fail(next.error());
    // A conflict: another replica was first, and the next step takes its certificate.
    const Result<> written = api_.WriteSecret(settings_.secret, *secret, ToData(*next), stop);
    if (!written) return written;
    log_.Info("made a certificate", {{"secret", settings_.secret}});
    held = *std::move(next);
  }
  if (const Result<> trusted = WriteAuthorities(held.authorities, stop); !trusted) return trusted;
  if (const Result<> served = WriteFiles(held); !served) return served;
  return WriteAgentSecret(held, stop);
}

Result<> CertificateKeeper::WriteAuthorities(const std::string& pem, const std::stop_token& stop) {
  for (const kube::WebhookKind kind :
       {kube::WebhookKind::kMutating, kube::WebhookKind::kValidating}) {
    // Twice: another replica may write the same meanwhile.
    Result<> done = WriteAuthorities(kind, pem, stop);
    if (!done) done = WriteAuthorities(kind, pem, stop);
    if (!done) return done;
  }
  return {};
}

Result<> CertificateKeeper::WriteAuthorities(kube::WebhookKind kind, const std::string& pem,
                                             const std::stop_token& stop) {
  const auto seen = api_.ReadAuthorities(kind, stop);
  // Nothing has to trust the certificate then.
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
                                                   {kCertificate, held.agents.certificate_pem},
                                                   {kKey, held.agents.key_pem}};
  if (seen->data == data) return {};
  return api_.WriteSecret(settings_.agent_secret, *seen, data, stop);
}

Result<> CertificateKeeper::WriteFiles(const Held& held) const {
  // The authorities first: clients here must know what peers may show by now.
  for (const auto& [file, text] :
       {std::pair(&settings_.authority_file, &held.authorities),
        std::pair(&settings_.key_file, &held.own.key_pem),
        std::pair(&settings_.certificate_file, &held.own.certificate_pem)}) {
    if (const Result<> replaced = Replace(*file, *text); !replaced) return replaced;
  }
  return {};
}

}  // namespace synergy::controller
