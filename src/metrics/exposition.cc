#include "metrics/exposition.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <system_error>

namespace synergy::metrics {
namespace {

bool BeginsName(char c, bool colon) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || (colon && c == ':');
}

// Removes a name from the front of `text`, and returns it; empty if there is none.
std::string_view TakeName(std::string_view& text, bool colon) {
  if (text.empty() || !BeginsName(text.front(), colon)) return {};
  size_t end = 1;
  while (end < text.size() &&
         (BeginsName(text[end], colon) || std::isdigit(static_cast<unsigned char>(text[end])) != 0))
    ++end;
  const std::string_view name = text.substr(0, end);
  text.remove_prefix(end);
  return name;
}

void SkipBlanks(std::string_view& text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
}

bool Take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

// Removes a value in quotes from the front of `text`, and returns it.
std::optional<std::string> TakeQuoted(std::string_view& text) {
  if (!Take(text, '"')) return std::nullopt;
  std::string value;
  while (!text.empty()) {
    const char c = text.front();
    text.remove_prefix(1);
    if (c == '"') return value;
    if (c != '\\') {
      value += c;
      continue;
    }
    if (text.empty()) return std::nullopt;
    const char escaped = text.front();
    text.remove_prefix(1);
    if (escaped != '\\' && escaped != '"' && escaped != 'n') return std::nullopt;
    value += escaped == 'n' ? '\n' : escaped;
  }
  return std::nullopt;
}

bool TakeLabels(std::string_view& text, Sample& sample) {
  if (!Take(text, '{')) return true;
  SkipBlanks(text);
  while (!Take(text, '}')) {
    const std::string_view name = TakeName(text, false);
    SkipBlanks(text);
    if (name.empty() || !Take(text, '=') || sample.labels.size() >= kMostLabels) return false;
    SkipBlanks(text);
    std::optional<std::string> value = TakeQuoted(text);
    if (!value) return false;
    sample.labels.emplace_back(name, *std::move(value));
    SkipBlanks(text);
    if (Take(text, ',')) {
      SkipBlanks(text);
    } else if (!text.starts_with('}')) {
      return false;
    }
  }
  return true;
}

std::optional<double> ParseValue(std::string_view text) {
  if (text == "+Inf" || text == "Inf") return std::numeric_limits<double>::infinity();
  if (text == "-Inf") return -std::numeric_limits<double>::infinity();
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Returns whether `text` is a number: a time in milliseconds or, as in OpenMetrics, in seconds with
// a fraction.
bool IsTimestamp(std::string_view text) {
  double time = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), time);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::string_view Sample::Label(std::string_view label) const {
  const auto found = std::find_if(labels.begin(), labels.end(),
                                  [&](const auto& known) { return known.first == label; });
  return found == labels.end() ? std::string_view() : std::string_view(found->second);
}

std::optional<Sample> ParseSample(std::string_view line) {
  if (line.size() > kLongestSample) return std::nullopt;
  SkipBlanks(line);
  Sample sample;
  sample.name = TakeName(line, true);
  if (sample.name.empty()) return std::nullopt;
  SkipBlanks(line);
  if (!TakeLabels(line, sample)) return std::nullopt;
  SkipBlanks(line);
  while (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '\r'))
    line.remove_suffix(1);
  const size_t blank = line.find_first_of(" \t");
  const std::optional<double> value = ParseValue(line.substr(0, blank));
  if (!value) return std::nullopt;
  sample.value = *value;
  if (blank == std::string_view::npos) return sample;
  line.remove_prefix(blank);
  SkipBlanks(line);
  if (!IsTimestamp(line)) return std::nullopt;
  return sample;
}

void ForEachLine(std::string_view page, const std::function<void(std::string_view)>& visit) {
  while (!page.empty()) {
    const size_t end = page.find('\n');
    visit(page.substr(0, end));
    page.remove_prefix(end == std::string_view::npos ? page.size() : end + 1);
  }
}

}  // namespace synergy::metrics
