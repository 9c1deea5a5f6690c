#pragma once

// Lets requests in by their bearer tokens. The API server is asked once per token, and its answer
// counts for a while: a minute where it was yes, ten seconds where it was no.
//
// Threading: from any thread. Ownership: the clock, the log, and what the judge refers to, outlive
// the gate.
// Failures of Check(): as the judge says, and kOverloaded when too many are being judged already.
// No token is kept or told: answers are found by SHA-256.

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
  kUnknown,    // the token is nobody's
  kForbidden,  // the token is of somebody who may not
};

using Judge = std::function<Result<Access>(const std::string& token)>;

// Lets in one user, by tokens that are meant for `audience`.
Judge JudgeByUser(AccessApi& api, std::string user, std::string audience);
// Lets in who may `get` that path, by tokens for the API server.
Judge JudgeByPath(AccessApi& api, std::string path);

class TokenGate {
 public:
  struct Limits {
    Duration keep_allowed = std::chrono::minutes(1);
    Duration keep_refused = std::chrono::seconds(10);
    // For how much longer a yes counts while there is no other answer.
    Duration forgive = Duration::zero();
    // Bounds each of both kinds of answers; beyond it the oldest is forgotten.
    size_t most_kept = 1024;
    // Tokens that the API server is asked about at once.
    size_t most_at_once = 8;
    // A longer token is nobody's.
    size_t longest = size_t{16} << 10;
  };

  TokenGate(Judge judge, const Clock& clock, Logger& log, Limits limits);
  TokenGate(Judge judge, const Clock& clock, Logger& log)
      : TokenGate(std::move(judge), clock, log, Limits()) {}

  // No token: kUnknown.
  Result<Access> Check(const std::string& token);
  // Answers that are kept.
  size_t kept() const;

 private:
  struct Answer {
    Access access = Access::kUnknown;
    Instant fresh_until;
    Instant end;  // it is kept until then
  };
  // Answers of one kind, which are kept equally long: the oldest ends first.
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
  // Two, so that whoever tries many tokens makes none forgotten that is good.
  Kept allowed_;
  Kept refused_;
  size_t judging_ = 0;
  bool failing_ = false;  // the last review
};

// The token of a request's header `Authorization: Bearer TOKEN`; empty: it has none.
std::string BearerToken(const http::Request& request);

// 401, 403 or 503 with what is wrong, and with `cure` where the request could be made otherwise;
// none: it is allowed.
std::optional<http::Response> RefusalOf(const Result<Access>& access, const std::string& cure);

// Lets in who may `get` /metrics, and for an hour more while the API server does not answer: alerts
// need the figures of that time. All that it is given outlives it.
std::function<std::optional<http::Response>(const http::Request&)> GuardMetrics(ApiClient& client,
                                                                                const Clock& clock,
                                                                                Logger& log);

}  // namespace synergy::kube
