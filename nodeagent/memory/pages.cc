#include "nodeagent/memory/pages.h"

#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "http/client.h"

namespace synergy::nodeagent {

Result<std::string> ReadPage(const std::string& ip, uint16_t port, const std::string& path,
                             const std::stop_token& stop) {
  const bool v6 = ip.find(':') != std::string::npos;
  http::ClientOptions options;
  options.base_url =
      v6 ? fmt::format("http://[{}]:{}", ip, port) : fmt::format("http://{}:{}", ip, port);
  options.connect_timeout = std::chrono::seconds(1);
  options.read_timeout = std::chrono::seconds(2);
  options.transfer_timeout = std::chrono::seconds(4);
  options.max_idle_connections = 0;
  options.max_response_bytes = size_t{4} << 20;
  const auto client = http::Client::Create(std::move(options));
  if (!client) return Fail(client.error());
  http::ClientRequest request;
  request.path = path;
  Result<http::ClientResponse> response = (*client)->Send(request, stop);
  if (!response) return Fail(response.error());
  if (response->status != 200) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("http://{}:{}{} answers {}", ip, port, path, response->status));
  }
  return std::move(response->body);
}

}  // namespace synergy::nodeagent
