#pragma once

// Calls to the API server. Status codes become ErrorCodes, and the server's own message goes into
// the Error.
//
// Threading: from any thread. No call is retried here, what may be repeated is the caller's to
// know, but for one that was refused with a Retry-After of a few seconds: nothing was done then,
// and it is sent again after that time, a few times. Failures: as http::Client says, kTimeout above
// all for whatever may have been acted on; of statuses, 404 kNotFound, 409 kConflict, 410 kGone,
// 401 and 403 kDenied, 429 kOverloaded, 5xx kUnavailable (504 kTimeout), all others kInvalid.
// Messages never contain the token or a query.

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
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
  std::chrono::milliseconds request_timeout{10000};
  // The API server takes objects of 3 MiB, and writes some characters as six.
  size_t largest_answer = size_t{32} << 20;
  // Of a call that is refused with a Retry-After: 1: none is sent again.
  int most_tries = 4;
  // Asked before a write is sent again, in whose time somebody else may have begun to act: false
  // ends it with the refusal. Null: it is sent again.
  std::function<bool()> may_repeat_writes = nullptr;
};

class ApiClient {
 public:
  using Headers = std::vector<std::pair<std::string, std::string>>;

  static Result<std::unique_ptr<ApiClient>> Create(const config::ClusterAccess& access,
                                                   ApiClientOptions options = {});
  virtual ~ApiClient() = default;

  // The answer's body. kTooLarge: it is more than is taken.
  virtual Result<std::string> Get(const std::string& path, std::stop_token stop = {}) = 0;
  // The same with further headers, which no message contains.
  virtual Result<std::string> GetWith(const std::string& path, const Headers& headers,
                                      std::stop_token stop = {}) = 0;
  virtual Result<std::string> Post(const std::string& path, const std::string& json,
                                   std::stop_token stop = {}) = 0;
  virtual Result<std::string> Patch(const std::string& path, const std::string& content_type,
                                    const std::string& json, std::stop_token stop = {}) = 0;
  virtual Result<std::string> Delete(const std::string& path, const std::string& json,
                                     std::stop_token stop = {}) = 0;
  // One call of `on_line` with nothing as soon as the server has taken the watch, then one per line
  // of the answer, without its newline; false ends it. Lines are limited to 32 MiB: a longer one
  // ends it with kInvalid.
  virtual Result<> Watch(const std::string& path, std::chrono::milliseconds silence_limit,
                         const std::function<bool(std::string_view)>& on_line,
                         std::stop_token stop) = 0;
};

}  // namespace synergy::kube
