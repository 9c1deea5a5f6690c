#include "kube/api_client.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/clock.h"
#include "http/client.h"
#include "kube/listing.h"
#include "kube/token_source.h"
#include "wire/objects/objects.h"

namespace synergy::kube {
namespace {

constexpr size_t kLongestLine = size_t{32} << 20;
// The number of idle connections to keep open, because bindings run in parallel.
constexpr size_t kIdleConnections = 32;
constexpr size_t kShownOfAnUnknownAnswer = 200;
constexpr std::chrono::seconds kLongestRetryAfter{5};

// Returns "POST /api/v1/...". Omits the query, which may be long and does not help the caller.
std::string Describe(const http::ClientRequest& request) {
  return fmt::format("{} {}", request.method,
                     std::string_view(request.path).substr(0, request.path.find('?')));
}

// Returns whether the server is overloaded and states when to retry.
bool MayBeSentAgain(const http::ClientResponse& response) {
  return response.status == 429 && response.retry_after &&
         *response.retry_after <= kLongestRetryAfter;
}

Error ToError(const http::ClientRequest& request, const http::ClientResponse& response) {
  std::string text;
  const std::optional<wire::Status> status = wire::ReadStatus(response.body);
  if (status) {
    text = status->reason.empty() ? status->message
                                  : fmt::format("{}: {}", status->reason, status->message);
  } else {
    // The answer may come from a proxy, for example; its first words show from where.
    text = response.body.substr(0, kShownOfAnUnknownAnswer);
  }
  return {wire::ToErrorCode(response.status, status),
          fmt::format("{}: status {}: {}", Describe(request), response.status, text)};
}

ApiClient::Headers HeadersOf(const config::Impersonation& as) {
  ApiClient::Headers headers;
  if (!as.user.empty()) headers.emplace_back("Impersonate-User", as.user);
  if (!as.uid.empty()) headers.emplace_back("Impersonate-Uid", as.uid);
  for (const std::string& group : as.groups) headers.emplace_back("Impersonate-Group", group);
  for (const auto& [key, value] : as.extra)
    headers.emplace_back("Impersonate-Extra-" + Escape(key), value);
  return headers;
}

class HttpApiClient final : public ApiClient {
 public:
  HttpApiClient(std::unique_ptr<http::Client> client, std::unique_ptr<TokenSource> token,
                Headers impersonation, ApiClientOptions options)
      : client_(std::move(client)),
        token_(std::move(token)),
        impersonation_(std::move(impersonation)),
        options_(std::move(options)) {}

  Result<std::string> Get(const std::string& path, std::stop_token stop) override {
    return Call(MakeRequest("GET", path), stop);
  }

  Result<std::string> GetWith(const std::string& path, const Headers& headers,
                              std::stop_token stop) override {
    http::ClientRequest request = MakeRequest("GET", path);
    request.headers.insert(request.headers.end(), headers.begin(), headers.end());
    return Call(request, stop);
  }

  Result<std::string> Post(const std::string& path, const std::string& json,
                           std::stop_token stop) override {
    return CallWithBody("POST", path, "application/json", json, std::move(stop));
  }

  Result<std::string> Patch(const std::string& path, const std::string& content_type,
                            const std::string& json, std::stop_token stop) override {
    return CallWithBody("PATCH", path, content_type, json, std::move(stop));
  }

  Result<std::string> Delete(const std::string& path, const std::string& json,
                             std::stop_token stop) override {
    return CallWithBody("DELETE", path, "application/json", json, std::move(stop));
  }

  Result<> Watch(const std::string& path, std::chrono::milliseconds silence_limit,
                 const std::function<bool(std::string_view)>& on_line,
                 std::stop_token stop) override {
    const http::ClientRequest request = MakeRequest("GET", path);
    LineSplitter lines(kLongestLine);
    bool open = false;
    const Result<http::ClientResponse> response = client_->Stream(
        request, silence_limit,
        [&](std::string_view piece) {
          if (!std::exchange(open, true) && !on_line({})) return false;
          return lines.Add(piece, on_line);
        },
        std::move(stop));
    if (!response) return Fail(WithRequest(request, response.error()));
    if (response->status != 200) return Fail(Refuse(request, *response));
    if (lines.too_long()) {
      return Fail(ErrorCode::kInvalid, fmt::format("{}: a line is longer than {} bytes",
                                                   Describe(request), kLongestLine));
    }
    return {};
  }

 private:
  http::ClientRequest MakeRequest(std::string method, const std::string& path) {
    http::ClientRequest request;
    request.method = std::move(method);
    request.path = path;
    request.headers = {{"Accept", "application/json"}, {"User-Agent", options_.user_agent}};
    request.headers.insert(request.headers.end(), impersonation_.begin(), impersonation_.end());
    if (const std::string token = token_->Token(); !token.empty()) {
      request.headers.emplace_back("Authorization", "Bearer " + token);
    }
    return request;
  }

  Result<std::string> CallWithBody(std::string method, const std::string& path,
                                   const std::string& content_type, const std::string& json,
                                   const std::stop_token& stop) {
    http::ClientRequest request = MakeRequest(std::move(method), path);
    request.content_type = content_type;
    request.body = json;
    return Call(request, stop);
  }

  Result<std::string> Call(const http::ClientRequest& request, const std::stop_token& stop) {
    Result<http::ClientResponse> response = client_->Send(request, stop);
    for (int tries = 1; tries < options_.most_tries && response && MayBeSentAgain(*response);
         ++tries) {
      if (!SystemClock().SleepFor(*response->retry_after, stop)) break;
      const bool is_write = request.method != "GET";
      if (is_write && options_.may_repeat_writes && !options_.may_repeat_writes()) break;
      response = client_->Send(request, stop);
    }
    if (!response) return Fail(WithRequest(request, response.error()));
    if (response->status < 200 || response->status >= 300) return Fail(Refuse(request, *response));
    return std::move(response->body);
  }

  Error Refuse(const http::ClientRequest& request, const http::ClientResponse& response) {
    if (response.status == 401) token_->Refused();
    return ToError(request, response);
  }

  static Error WithRequest(const http::ClientRequest& request, const Error& error) {
    return {error.code, fmt::format("{}: {}", Describe(request), error.message)};
  }

  const std::unique_ptr<http::Client> client_;
  const std::unique_ptr<TokenSource> token_;
  const Headers impersonation_;
  const ApiClientOptions options_;
};

}  // namespace

Result<std::unique_ptr<ApiClient>> ApiClient::Create(const config::ClusterAccess& access,
                                                     ApiClientOptions options) {
  http::ClientOptions http_options;
  http_options.base_url = access.server;
  http_options.tls = {.ca_pem = access.ca_pem,
                      .certificate_pem = access.certificate_pem,
                      .key_pem = access.key_pem,
                      .ca_file = access.ca_file,
                      .certificate_file = access.certificate_file,
                      .key_file = access.key_file,
                      .server_name = access.tls_server_name,
                      .skip_verify = access.skip_verify};
  http_options.proxy = access.proxy_url;
  http_options.read_timeout = options.request_timeout;
  http_options.transfer_timeout = options.call_timeout;
  http_options.connect_timeout = std::min(http_options.connect_timeout, options.request_timeout);
  http_options.max_idle_connections = kIdleConnections;
  http_options.max_response_bytes = options.largest_answer;
  auto client = http::Client::Create(std::move(http_options));
  if (!client) return Fail(client.error());
  auto token = TokenSource::Create(access.token, access.token_file);
  if (!token) return Fail(token.error());
  return std::make_unique<HttpApiClient>(std::move(*client), std::move(*token),
                                         HeadersOf(access.as), std::move(options));
}

bool LineSplitter::Add(std::string_view piece,
                       const std::function<bool(std::string_view)>& on_line) {
  while (!piece.empty()) {
    const size_t end = piece.find('\n');
    const std::string_view part = piece.substr(0, end);
    if (begun_.size() + part.size() > longest_) {
      too_long_ = true;
      return false;
    }
    if (end == std::string_view::npos) {
      begun_.append(part);
      return true;
    }
    piece.remove_prefix(end + 1);
    // Most lines arrive in one piece and need no copy.
    if (begun_.empty()) {
      if (!part.empty() && !on_line(part)) return false;
      continue;
    }
    begun_.append(part);
    const std::string line = std::move(begun_);
    begun_.clear();
    if (!on_line(line)) return false;
  }
  return true;
}

}  // namespace synergy::kube
