#pragma once

// Admits requests by their bearer tokens. The API server reviews each token once, and its answer
// counts for a while: a minute if positive, ten seconds if negative.
//
// Threading: from any thread. Ownership: the clock, the log, and what the judge refers to, outlive
// the gate.
// Failures of Check(): the judge's, and kOverloaded if too many tokens are already under review.
// Tokens are neither stored nor logged: answers are found by SHA-256.

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "core/clock.h"
#include "core/log.h"
#include "core/result.h"
#include "http/server/server.h"
#include "kube/apis/access_api.h"

namespace synergy::kube {

enum class Access {
  kAllowed,
  kUnknown,    // the token is invalid
  kForbidden,  // the token's owner lacks the right
};

using Judge = std::function<Result<Access>(const std::string& token)>;

// Admits one user, by tokens that are meant for `audience`.
Judge JudgeByUser(AccessApi& api, std::string user, std::string audience);
// Admits users that may `get` that path, by tokens for the API server.
Judge JudgeByPath(AccessApi& api, std::string path);

class TokenGate {
 public:
  struct Limits {
    Duration keep_allowed = std::chrono::minutes(1);
    Duration keep_refused = std::chrono::seconds(10);
    // How much longer a positive answer counts while no newer one is available. Then the API server
    // is asked again at most once in `keep_failed`.
    Duration forgive = Duration::zero();
    Duration keep_failed = std::chrono::seconds(10);
    // Limit of each of the two kinds of answers; beyond it the oldest is dropped.
    size_t most_kept = 1024;
    // Tokens under review by the API server at once.
    size_t most_at_once = 8;
    // A longer token is invalid.
    size_t longest = size_t{16} << 10;
  };

  TokenGate(Judge judge, const Clock& clock, Logger& log, Limits limits);
  TokenGate(Judge judge, const Clock& clock, Logger& log)
      : TokenGate(std::move(judge), clock, log, Limits()) {}

  // A token that is empty or has a character other than printable ones gives kUnknown: the API
  // server would take the request for an anonymous one.
  Result<Access> Check(const std::string& token);
  // Number of stored answers.
  size_t kept() const;

 private:
  struct Answer {
    Access access = Access::kUnknown;
    Instant fresh_until;
    Instant end;  // it is dropped then
  };
  // Answers of one kind, with equal lifetimes: the oldest ends first.
  class Kept {
   public:
    std::optional<Answer> Find(const std::string& hash, Instant now);
    void Keep(const std::string& hash, const Answer& answer, size_t most);
    void Drop(const std::string& hash) { by_hash_.erase(hash); }
    size_t size() const { return by_hash_.size(); }

   private:
    void ForgetOldest();

    std::map<std::string, Answer> by_hash_;
    std::deque<std::pair<Instant, std::string>> ends_;
  };

  const Judge judge_;
  const Clock& clock_;
  Logger& log_;
  const Limits limits_;
  mutable std::mutex mutex_;
  // Separate, so that a client that tries many tokens does not displace good ones.
  Kept allowed_;
  Kept refused_;
  size_t judging_ = 0;
  bool failing_ = false;  // the last review failed
  Instant no_review_before_{};
};

// The token of a request's header `Authorization: Bearer TOKEN`; empty if there is none.
std::string BearerToken(const http::Request& request);

// 401, 403 or 503 with the problem, and with `cure` if the request could be made in another way;
// none: it is allowed.
std::optional<http::Response> RefusalOf(const Result<Access>& access, const std::string& cure);

// Admits users that may `get` /metrics, and for an hour longer while the API server does not
// answer: alerts need the metrics of that time. All arguments outlive the result.
std::function<std::optional<http::Response>(const http::Request&)> GuardMetrics(ApiClient& client,
                                                                                const Clock& clock,
                                                                                Logger& log);

}  // namespace synergy::kube
