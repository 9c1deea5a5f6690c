#include "kube/token_gate.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <openssl/sha.h>

namespace synergy::kube {
namespace {

std::string HashOf(const std::string& token) {
  std::string hash(SHA256_DIGEST_LENGTH, '\0');
  ::SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(),
           reinterpret_cast<unsigned char*>(hash.data()));
  return hash;
}

bool IsToken(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](char letter) { return letter > ' ' && letter <= '~'; });
}

http::Response PlainText(int status, const std::string& text) {
  return {status, "text/plain; charset=utf-8", text + "\n"};
}

}  // namespace

Judge JudgeByUser(AccessApi& api, std::string user, std::string audience) {
  return [&api, user = std::move(user),
          audience = std::move(audience)](const std::string& token) -> Result<Access> {
    const auto known = api.ReviewToken(token, audience);
    if (!known) return Fail(known.error());
    if (!*known) return Access::kUnknown;
    return (*known)->name == user ? Access::kAllowed : Access::kForbidden;
  };
}

Judge JudgeByPath(AccessApi& api, std::string path) {
  return [&api, path = std::move(path)](const std::string& token) -> Result<Access> {
    const auto known = api.ReviewToken(token, "");
    if (!known) return Fail(known.error());
    if (!*known) return Access::kUnknown;
    const Result<bool> may = api.MayGet(**known, path);
    if (!may) return Fail(may.error());
    return *may ? Access::kAllowed : Access::kForbidden;
  };
}

TokenGate::TokenGate(Judge judge, const Clock& clock, Logger& log, Limits limits)
    : judge_(std::move(judge)), clock_(clock), log_(log), limits_(limits) {}

Result<Access> TokenGate::Check(const std::string& token) {
  if (!IsToken(token) || token.size() > limits_.longest) return Access::kUnknown;
  const std::string hash = HashOf(token);
  bool was_allowed = false;
  {
    const std::lock_guard lock(mutex_);
    const Instant now = clock_.Now();
    for (Kept* const kept : {&allowed_, &refused_}) {
      const auto answer = kept->Find(hash, now);
      if (answer && now < answer->fresh_until) return answer->access;
      was_allowed = was_allowed || (answer && answer->access == Access::kAllowed);
    }
    // Do not review again soon: a failing review may take longer than Prometheus waits.
    if (was_allowed && (now < no_review_before_ || judging_ >= limits_.most_at_once))
      return Access::kAllowed;
    if (judging_ >= limits_.most_at_once)
      return Fail(ErrorCode::kOverloaded, "too many tokens are being reviewed");
    ++judging_;
  }
  Result<Access> access = judge_(token);
  const std::lock_guard lock(mutex_);
  --judging_;
  const bool failed_before = std::exchange(failing_, !access);
  if (failing_ && !failed_before)
    log_.Warn("cannot review tokens", {{"error", access.error().message}});
  const Instant now = clock_.Now();
  if (!access) {
    if (!was_allowed) return access;
    no_review_before_ = now + limits_.keep_failed;
    return Access::kAllowed;
  }
  if (*access == Access::kAllowed) {
    const Instant fresh_until = now + limits_.keep_allowed;
    allowed_.Keep(hash, {*access, fresh_until, fresh_until + limits_.forgive}, limits_.most_kept);
  } else {
    const Instant fresh_until = now + limits_.keep_refused;
    allowed_.Drop(hash);
    refused_.Keep(hash, {*access, fresh_until, fresh_until}, limits_.most_kept);
  }
  return access;
}

size_t TokenGate::kept() const {
  const std::lock_guard lock(mutex_);
  return allowed_.size() + refused_.size();
}

std::optional<TokenGate::Answer> TokenGate::Kept::Find(const std::string& hash, Instant now) {
  while (!ends_.empty() && ends_.front().first <= now) ForgetOldest();
  const auto found = by_hash_.find(hash);
  return found == by_hash_.end() ? std::nullopt : std::optional(found->second);
}

void TokenGate::Kept::Keep(const std::string& hash, const Answer& answer, size_t most) {
  by_hash_[hash] = answer;
  ends_.emplace_back(answer.end, hash);
  if (ends_.size() > most) ForgetOldest();
}

void TokenGate::Kept::ForgetOldest() {
  const auto& [end, hash] = ends_.front();
  const auto found = by_hash_.find(hash);
  // Keep a newer answer for the same token.
  if (found != by_hash_.end() && found->second.end == end) by_hash_.erase(found);
  ends_.pop_front();
}

std::string BearerToken(const http::Request& request) {
  constexpr std::string_view kScheme = "Bearer ";
  const std::string value = request.header("Authorization");
  return value.starts_with(kScheme) ? value.substr(kScheme.size()) : std::string();
}

std::optional<http::Response> RefusalOf(const Result<Access>& access, const std::string& cure) {
  if (!access) {
    return PlainText(503,
                     fmt::format("cannot check your permission now: {}", access.error().message));
  }
  switch (*access) {
    case Access::kUnknown:
      return PlainText(401, "the token is missing or not valid here: " + cure);
    case Access::kForbidden:
      return PlainText(403, "the token's account has no permission: " + cure);
    case Access::kAllowed:
      break;
  }
  return std::nullopt;
}

std::function<std::optional<http::Response>(const http::Request&)> GuardMetrics(ApiClient& client,
                                                                                const Clock& clock,
                                                                                Logger& log) {
  struct Guard {
    Guard(ApiClient& client, const Clock& clock, Logger& log)
        : api(MakeAccessApi(client)),
          gate(JudgeByPath(*api, "/metrics"), clock, log, {.forgive = std::chrono::hours(1)}) {}

    const std::unique_ptr<AccessApi> api;
    TokenGate gate;
  };
  return [guard = std::make_shared<Guard>(client, clock, log)](const http::Request& request) {
    return RefusalOf(guard->gate.Check(BearerToken(request)),
                     "send `Authorization: Bearer TOKEN` of an account that may get the "
                     "non-resource URL /metrics (a ClusterRole with nonResourceURLs)");
  };
}

}  // namespace synergy::kube
