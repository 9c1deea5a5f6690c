#include "daemon/health_check.h"

#include <utility>

#include <fmt/format.h>

#include "config/listen_address.h"
#include "http/client.h"

namespace synergy::daemon {
namespace {

// Whoever listens on all addresses is reached on the loopback.
std::string HostOf(const config::ListenAddress& address) {
  if (address.host == "0.0.0.0") return "127.0.0.1";
  if (address.host == "::") return "[::1]";
  return address.host.find(':') == std::string::npos ? address.host : "[" + address.host + "]";
}

}  // namespace

Result<> CheckHealth(const std::string& listen, bool tls) {
  const auto address = config::ParseListenAddress(listen);
  if (!address) return Fail(address.error());
  http::ClientOptions options;
  options.base_url =
      fmt::format("{}://{}:{}", tls ? "https" : "http", HostOf(*address), address->port);
  options.tls.skip_verify = true;
  auto client = http::Client::Create(std::move(options));
  if (!client) return Fail(client.error());
  const auto answer = (*client)->Send({.path = "/healthz"});
  if (!answer) return Fail(answer.error());
  if (answer->status != 200) {
    return Fail(ErrorCode::kUnavailable,
                fmt::format("/healthz says {}: {}", answer->status, answer->body));
  }
  return {};
}

}  // namespace synergy::daemon
