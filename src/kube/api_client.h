#pragma once

// Calls to the API server. Converts status codes to ErrorCodes, and puts the server's own message
// into the Error.
//
// Threading: any thread. Calls are not retried here, because only the caller can decide whether a
// call may be repeated. The exception is a call refused with a Retry-After of a few seconds. It had
// no effect, so it is sent again after that time, a few times at most. Failures: as in
// http::Client; in particular kTimeout for any request that may have taken effect. Errors by
// status: 404 kNotFound, 409 kConflict, 410 kGone, 401 and 403 kDenied, 429 kOverloaded, 5xx
// kUnavailable (504 kTimeout), all others kInvalid. Messages never contain the token or a query.

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/kubeconfig.h"
#include "core/result.h"

namespace synergy::kube {

struct ApiClientOptions {
  std::string user_agent = "synergy";
  std::chrono::milliseconds request_timeout{10000};  // longest silence
  // Longest time of a call other than a watch, even while data arrives; absent: no limit.
  std::optional<std::chrono::milliseconds> call_timeout = {};
  // In bytes. The API server accepts objects of 3 MiB, and may write one character as six.
  size_t largest_answer = size_t{32} << 20;
  // Number of attempts at a call that is refused with a Retry-After; 1: no retry.
  int most_tries = 4;
  // Called before a refused write is sent again, because another replica may have become the leader
  // meanwhile. If it returns false, the call fails with the refusal. Null: writes are always sent
  // again.
  std::function<bool()> may_repeat_writes = nullptr;
};

class ApiClient {
 public:
  using Headers = std::vector<std::pair<std::string, std::string>>;

  static Result<std::unique_ptr<ApiClient>> Create(const config::ClusterAccess& access,
                                                   ApiClientOptions options = {});
  virtual ~ApiClient() = default;

  // Returns the body of the response; kTooLarge if it exceeds the limit.
  virtual Result<std::string> Get(const std::string& path, std::stop_token stop = {}) = 0;
  // Does the same with further headers, which never appear in error messages.
  virtual Result<std::string> GetWith(const std::string& path, const Headers& headers,
                                      std::stop_token stop = {}) = 0;
  virtual Result<std::string> Post(const std::string& path, const std::string& json,
                                   std::stop_token stop = {}) = 0;
  virtual Result<std::string> Patch(const std::string& path, const std::string& content_type,
                                    const std::string& json, std::stop_token stop = {}) = 0;
  virtual Result<std::string> Delete(const std::string& path, const std::string& json,
                                     std::stop_token stop = {}) = 0;
  // Calls `on_line` with an empty line as soon as the server has accepted the watch, then once per
  // line of the response, without its newline. `on_line` returns false to end the watch. A line
  // longer than 32 MiB ends it with kInvalid.
  virtual Result<> Watch(const std::string& path, std::chrono::milliseconds silence_limit,
                         const std::function<bool(std::string_view)>& on_line,
                         std::stop_token stop) = 0;
};

// Splits the pieces of a stream into lines. One owner at a time.
class LineSplitter {
 public:
  explicit LineSplitter(size_t longest) : longest_(longest) {}

  // Calls `on_line` for every line that `piece` completes, without its newline. Returns false if
  // `on_line` did, or if a line is too long.
  bool Add(std::string_view piece, const std::function<bool(std::string_view)>& on_line);
  bool too_long() const { return too_long_; }

 private:
  const size_t longest_;
  std::string begun_;  // the beginning of an incomplete line
  bool too_long_ = false;
};

}  // namespace synergy::kube
