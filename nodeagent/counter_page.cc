#include "nodeagent/counter_page.h"

#include <charconv>
#include <cmath>
#include <optional>
#include <system_error>

#include <fmt/format.h>

namespace synergy::nodeagent {
namespace {

// What stands behind the labels, which may hold anything in quotes.
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
