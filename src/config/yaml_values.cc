#include "config/yaml_values.h"

#include <charconv>
#include <map>
#include <system_error>

#include <fmt/format.h>

namespace synergy::config {
namespace {

// Parses a whole number followed by one of the units.
int64_t WithUnit(const YAML::Node& node, const std::string& field,
                 const std::map<std::string, int64_t>& units) {
  const std::string text = Scalar(node, field);
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto unit = units.find(std::string(end, text.data() + text.size()));
  int64_t product = 0;
  if (error != std::errc() || number < 0 || unit == units.end() ||
      __builtin_mul_overflow(number, unit->second, &product)) {
    std::string known;
    for (const auto& [name, factor] : units)
      known += fmt::format("{}\"{}\"", known.empty() ? "" : ", ", name);
    Reject(node, fmt::format("{}: \"{}\" is not a whole number with one of the units {}", field,
                             text, known));
  }
  return product;
}

}  // namespace

std::chrono::milliseconds ToDuration(const YAML::Node& node, const std::string& field,
                                     std::chrono::hours most) {
  static const std::map<std::string, int64_t> kUnits = {
      {"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}};
  const std::chrono::milliseconds duration(WithUnit(node, field, kUnits));
  if (duration.count() == 0) Reject(node, fmt::format("{}: must be more than zero", field));
  if (duration > most) Reject(node, fmt::format("{}: must be at most {}h", field, most.count()));
  return duration;
}

int64_t ToByteCount(const YAML::Node& node, const std::string& field) {
  static const std::map<std::string, int64_t> kUnits = {{"", 1},
                                                        {"k", 1'000},
                                                        {"M", 1'000'000},
                                                        {"G", 1'000'000'000},
                                                        {"Ki", 1 << 10},
                                                        {"Mi", 1 << 20},
                                                        {"Gi", int64_t{1} << 30},
                                                        {"Ti", int64_t{1} << 40},
                                                        {"T", 1'000'000'000'000}};
  return WithUnit(node, field, kUnits);
}

int64_t ToMilliCores(const YAML::Node& node, const std::string& field) {
  static const std::map<std::string, int64_t> kUnits = {{"", 1000}, {"m", 1}};
  return WithUnit(node, field, kUnits);
}

std::vector<std::string> ToTexts(const YAML::Node& node, const std::string& field) {
  if (!node.IsSequence()) Reject(node, field + ": expected a list");
  std::vector<std::string> texts;
  for (size_t i = 0; i < node.size(); ++i) {
    texts.push_back(Scalar(node[i], fmt::format("{}[{}]", field, i)));
    if (texts.back().empty()) Reject(node[i], fmt::format("{}[{}]: must not be empty", field, i));
  }
  return texts;
}

int64_t ToInteger(const YAML::Node& node, const std::string& field, int64_t least, int64_t most) {
  const std::string text = Scalar(node, field);
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < least || number > most) {
    Reject(node,
           fmt::format("{}: \"{}\" is not a whole number from {} to {}", field, text, least, most));
  }
  return number;
}

bool ToTruth(const YAML::Node& node, const std::string& field) {
  const std::string text = Scalar(node, field);
  if (text != "true" && text != "false")
    Reject(node, fmt::format("{}: \"{}\" is not true or false", field, text));
  return text == "true";
}

}  // namespace synergy::config
