#include "profile/spread_cost.h"

#include <array>
#include <charconv>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace synergy {
namespace {

constexpr std::array<std::pair<std::string_view, std::optional<double> SpreadCost::*>, 3> kParts = {
    {{"nodes", &SpreadCost::nodes},
     {"racks", &SpreadCost::racks},
     {"tensor-skew", &SpreadCost::tensor_skew}}};

std::optional<double> ParsePart(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  // This is also false for NaN.
  if (!(number >= 0 && number <= 1)) return std::nullopt;
  return number;
}

}  // namespace

std::string ToText(const SpreadCost& cost) {
  std::string text;
  for (const auto& [name, part] : kParts) {
    if (!(cost.*part)) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, *(cost.*part));
  }
  return text;
}

SpreadCost ParseSpreadCost(std::string_view text) {
  SpreadCost cost;
  while (!text.empty()) {
    const size_t end = text.find(',');
    const std::string_view entry = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const size_t equals = entry.find('=');
    if (equals == std::string_view::npos) return {};
    bool is_known = false;
    for (const auto& [name, part] : kParts) {
      if (entry.substr(0, equals) != name) continue;
      is_known = true;
      cost.*part = ParsePart(entry.substr(equals + 1));
      if (!(cost.*part)) return {};
    }
    if (!is_known) return {};
  }
  if (cost.nodes == 0 || cost.racks == 0 || (cost.racks && !cost.nodes)) return {};
  return cost;
}

}  // namespace synergy
