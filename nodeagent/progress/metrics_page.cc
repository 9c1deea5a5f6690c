#include "nodeagent/progress/metrics_page.h"

#include <chrono>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "http/client.h"
#include "metrics/exposition.h"

namespace synergy::nodeagent {

Result<std::string> ReadPage(const std::string& ip, uint16_t port, const std::string& path,
                             const std::stop_token& stop) {
  const bool v6 = ip.find(':') != std::string::npos;
  const std::string base_url =
      v6 ? fmt::format("http://[{}]:{}", ip, port) : fmt::format("http://{}:{}", ip, port);
  http::ClientOptions options;
  options.base_url = base_url;
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
                fmt::format("{}{} returned status {}", base_url, path, response->status));
  }
  return std::move(response->body);
}

Result<double> FindCounter(std::string_view page, std::string_view name) {
  std::optional<double> sum;
  std::string_view bad;
  metrics::ForEachLine(page, [&](std::string_view line) {
    if (!line.starts_with(name)) return;
    const std::string_view rest = line.substr(name.size());
    if (!rest.starts_with('{') && !rest.starts_with(' ')) return;
    const std::optional<metrics::Sample> sample = metrics::ParseSample(line);
    if (sample && std::isfinite(sample->value) && sample->value >= 0) {
      sum = sum.value_or(0) + sample->value;
    } else if (bad.empty()) {
      bad = line;
    }
  });
  if (!bad.empty()) {
    return Fail(ErrorCode::kInvalid, fmt::format("counter {}: \"{}\" is not a number of 0 or more",
                                                 name, bad.substr(0, 80)));
  }
  if (!sum) return Fail(ErrorCode::kNotFound, fmt::format("there is no counter {}", name));
  return *sum;
}

}  // namespace synergy::nodeagent
