#include "http/client.h"

#include <csignal>
#include <mutex>
#include <vector>

#include <fmt/format.h>

#include "http/certificates.h"
#include "http/client_connection.h"
#include "http/socket.h"

namespace synergy::http {
namespace {

using Clock = std::chrono::steady_clock;

// How long a connection may be idle before it is no longer reused. Servers close idle connections
// (Go's API server after 90 s), and a request sent just as the server closes may or may not take
// effect.
constexpr std::chrono::seconds kReusedWithin{30};

bool IsRepeatable(const ClientRequest& request) {
  return request.method == "GET" || request.method == "HEAD";
}

bool IsLine(std::string_view text, unsigned char lowest) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < lowest || byte == 0x7f) return false;
  }
  return true;
}

// Line ends and spaces would change how the server reads the request.
Result<> Check(const ClientRequest& request) {
  if (request.method.empty() || !IsLine(request.method, 'A'))
    return Fail(ErrorCode::kInvalid, fmt::format("\"{}\" is not an HTTP method", request.method));
  if (request.path.empty() || request.path.front() != '/' || !IsLine(request.path, '!')) {
    return Fail(ErrorCode::kInvalid, fmt::format("\"{}\" is not an HTTP path", request.path));
  }
  for (const auto& [name, value] : request.headers) {
    if (name.empty() || !IsLine(name, '!') || !IsLine(value, ' ')) {
      return Fail(ErrorCode::kInvalid, fmt::format("header \"{}\" cannot be sent", name));
    }
  }
  if (!IsLine(request.content_type, ' '))
    return Fail(ErrorCode::kInvalid, "the content type cannot be sent");
  return {};
}

class PooledClient final : public Client {
 public:
  PooledClient(ClientOptions options, ClientConnection::Target target,
               std::shared_ptr<ClientCertificates> certificates)
      : options_(std::move(options)),
        target_(std::move(target)),
        certificates_(std::move(certificates)) {}

  Result<std::unique_ptr<Client>> For(const std::string& base_url) const override {
    ClientOptions options = options_;
    options.base_url = base_url;
    return Make(std::move(options), certificates_);
  }

  static Result<std::unique_ptr<Client>> Make(ClientOptions options,
                                              std::shared_ptr<ClientCertificates> certificates) {
    Result<BaseUrl> url = ParseBaseUrl(options.base_url);
    if (!url) return Fail(url.error());
    ClientConnection::Target target{.url = std::move(*url),
                                    .server_name = options.tls.server_name,
                                    .verify = !options.tls.skip_verify};
    if (!options.proxy.empty()) {
      Result<Proxy> proxy = ParseProxy(options.proxy);
      if (!proxy) return Fail(proxy.error());
      if (proxy->url.tls) {
        Result<TlsContext> tls = MakeProxyContext(options.tls);
        if (!tls) return Fail(tls.error());
        target.proxy_tls = *std::move(tls);
      }
      target.proxy = *std::move(proxy);
    }
    if (target.server_name.empty()) target.server_name = target.url.host;
    if (!target.url.tls) certificates = nullptr;
    if (target.url.tls && certificates == nullptr) {
      auto loaded = ClientCertificates::Load(options.tls);
      if (!loaded) return Fail(loaded.error());
      certificates = *std::move(loaded);
    }
    return std::make_unique<PooledClient>(std::move(options), std::move(target),
                                          std::move(certificates));
  }

  Result<ClientResponse> Send(const ClientRequest& request, std::stop_token stop) override {
    return Call(request, options_.read_timeout, nullptr, stop);
  }

  Result<ClientResponse> Stream(const ClientRequest& request,
                                std::chrono::milliseconds silence_limit,
                                const std::function<bool(std::string_view)>& on_data,
                                std::stop_token stop) override {
    return Call(request, silence_limit, &on_data, stop);
  }

 private:
  struct Idle {
    std::unique_ptr<ClientConnection> connection;
    Clock::time_point since;
  };

  Result<ClientResponse> Call(const ClientRequest& request, std::chrono::milliseconds silence_limit,
                              const ClientConnection::OnData* on_data,
                              const std::stop_token& stop) {
    if (const Result<> valid = Check(request); !valid) return Fail(valid.error());
    if (stop.stop_requested()) return Fail(ErrorCode::kCancelled, "stopped");
    const StopEvent stop_event(stop);
    Waits waits{silence_limit, stop_event.fd()};
    if (on_data == nullptr && options_.transfer_timeout)
      waits.deadline = Clock::now() + *options_.transfer_timeout;
    if (std::unique_ptr<ClientConnection> kept = Take()) {
      ClientConnection::Outcome outcome =
          kept->Send(request, waits, options_.max_response_bytes, on_data);
      if (outcome.response) {
        Keep(std::move(kept));
        return std::move(outcome.response);
      }
      const bool may_repeat =
          outcome.not_sent || (outcome.ended_unanswered && IsRepeatable(request));
      if (outcome.response.error().code == ErrorCode::kCancelled || !may_repeat)
        return std::move(outcome.response);
    }
    auto fresh = ClientConnection::Open(target_, certificates_ ? certificates_->Current() : nullptr,
                                        options_.connect_timeout, waits.wake_fd);
    if (!fresh) return Fail(fresh.error());
    ClientConnection::Outcome outcome =
        (*fresh)->Send(request, waits, options_.max_response_bytes, on_data);
    if (outcome.response) Keep(std::move(*fresh));
    return std::move(outcome.response);
  }

  // Takes the most recently used connection, so that the others can expire.
  std::unique_ptr<ClientConnection> Take() {
    std::vector<Idle> ended;  // closed outside the lock
    const std::lock_guard lock(mutex_);
    while (!idle_.empty()) {
      Idle last = std::move(idle_.back());
      idle_.pop_back();
      if (Clock::now() - last.since < kReusedWithin && last.connection->Reusable())
        return std::move(last.connection);
      ended.push_back(std::move(last));
    }
    return nullptr;
  }

  void Keep(std::unique_ptr<ClientConnection> connection) {
    if (!connection->Reusable()) return;
    const std::lock_guard lock(mutex_);
    if (idle_.size() < options_.max_idle_connections)
      idle_.push_back({std::move(connection), Clock::now()});
  }

  const ClientOptions options_;
  const ClientConnection::Target target_;
  const std::shared_ptr<ClientCertificates> certificates_;  // null without TLS
  std::mutex mutex_;
  std::vector<Idle> idle_;
};

}  // namespace

Result<std::unique_ptr<Client>> Client::Create(ClientOptions options) {
  // OpenSSL writes to sockets without MSG_NOSIGNAL.
  std::signal(SIGPIPE, SIG_IGN);
  return PooledClient::Make(std::move(options), nullptr);
}

}  // namespace synergy::http
