#include "nodeagent/progress/metrics_page.h"

#include <charconv>
#include <chrono>
#include <cmath>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "http/client.h"

namespace synergy::nodeagent {
namespace {

// Returns the text after the labels, which may contain anything in quotes.
std::string_view AfterLabels(std::string_view rest) {
  if (!rest.starts_with('{')) return rest;
  bool quoted = false;
  for (size_t at = 1; at < rest.size(); ++at) {
    if (quoted && rest[at] == '\\') {
      ++at;
    } else if (rest[at] == '"') {
      quoted = !quoted;
    } else if (!quoted && rest[at] == '}') {
      return rest.substr(at + 1);
    }
  }
  return {};
}

}  // namespace

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

Result<double> FindCounter(std::string_view page, std::string_view name) {
  std::optional<double> sum;
  while (!page.empty()) {
    const size_t end = page.find('\n');
    std::string_view line = page.substr(0, end);
    page.remove_prefix(end == std::string_view::npos ? page.size() : end + 1);
    if (!line.starts_with(name)) continue;
    line.remove_prefix(name.size());
    if (!line.starts_with('{') && !line.starts_with(' ')) continue;
    line = AfterLabels(line);
    while (line.starts_with(' ')) line.remove_prefix(1);
    double value = 0;
    const auto [rest, error] = std::from_chars(line.data(), line.data() + line.size(), value);
    if (error != std::errc() || !std::isfinite(value) || value < 0)
      return Fail(ErrorCode::kInvalid,
                  fmt::format("counter {} is \"{}\"", name, line.substr(0, 40)));
    sum = sum.value_or(0) + value;
  }
  if (!sum) return Fail(ErrorCode::kNotFound, fmt::format("no counter {} is there", name));
  return *sum;
}

}  // namespace synergy::nodeagent
