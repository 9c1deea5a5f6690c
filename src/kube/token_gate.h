#pragma once

// Admits requests by their bearer tokens. The API server reviews each token once, and its answer
// stays valid for a while: a minute if positive, ten seconds if negative.
//
// Threading: any thread. Ownership: the clock, the log, and all objects that the judge refers to
// must outlive the gate. Failures of Check(): those of the judge, and kOverloaded if too many
// tokens are already under review. Tokens are neither stored nor logged: answers are looked up by
// SHA-256.

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

// Admits one user, with tokens that are meant for `audience`.
Judge JudgeByUser(AccessApi& api, std::string user, std::string audience);
// Admits users that may `get` `path`, with tokens for the API server.
Judge JudgeByPath(AccessApi& api, std::string path);

class TokenGate {
 public:
  struct Limits {
    Duration keep_allowed = std::chrono::minutes(1);
    Duration keep_refused = std::chrono::seconds(10);
    // How much longer a positive answer stays valid while no newer one is available. During that
    // time, the API server is queried at most once in `keep_failed`.
    Duration forgive = Duration::zero();
    Duration keep_failed = std::chrono::seconds(10);
    // Limit on the number of answers of each of the two kinds; the oldest is dropped.
    size_t most_kept = 1024;
    // The number of tokens that the API server may review at once.
    size_t most_at_once = 8;
    // A longer token is invalid.
    size_t longest = size_t{16} << 10;
  };

  TokenGate(Judge judge, const Clock& clock, Logger& log, Limits limits);
  TokenGate(Judge judge, const Clock& clock, Logger& log)
      : TokenGate(std::move(judge), clock, log, Limits()) {}

  // Returns kUnknown for a token that is empty or contains unprintable characters, because the API
  // server would treat the request as anonymous.
  Result<Access> Check(const std::string& token);
  // Returns the number of stored answers.
  size_t kept() const;

 private:
  struct Answer {
    Access access = Access::kUnknown;
    Instant fresh_until;
    Instant end;  // when the answer is dropped
  };
  // Answers of one kind with equal lifetimes, so the oldest ends first.
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
  // Kept separately, so that a client that tries many tokens does not displace good ones.
  Kept allowed_;
  Kept refused_;
  size_t judging_ = 0;
  bool failing_ = false;  // the last review failed
  Instant no_review_before_{};
};

// Returns the token from a request's header `Authorization: Bearer TOKEN`; empty if there is none.
std::string BearerToken(const http::Request& request);

// Returns a response with status 401, 403 or 503 that describes the problem; `cure` is the advice
// in a 401 or 403. Returns nullopt if access is allowed.
std::optional<http::Response> RefusalOf(const Result<Access>& access, const std::string& cure);

// Admits users that may `get` /metrics. While the API server does not answer, admits known users
// for another hour, because alerts need the metrics of that time. All arguments must outlive the
// result.
std::function<std::optional<http::Response>(const http::Request&)> GuardMetrics(ApiClient& client,
                                                                                const Clock& clock,
                                                                                Logger& log);

}  // namespace synergy::kube
