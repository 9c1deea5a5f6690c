#include "cli/simulate/settings.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "cli/text/amounts.h"
#include "core/rounding.h"

namespace synergy::cli {
namespace {

template <class Number>
std::function<Result<>(std::string_view)> ReadBetween(Number& value, Number least, Number most,
                                                      std::string_view kind) {
  return [&value, least, most, kind](std::string_view text) -> Result<> {
    const char* const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, value);
    if (parsed.ec == std::errc() && parsed.ptr == end && value >= least && value <= most) return {};
    return Fail(ErrorCode::kInvalid,
                fmt::format("\"{}\" is not a {} from {} to {}", text, kind, least, most));
  };
}

}  // namespace

Result<> ReadSettings(std::string_view text, char separator, std::string_view usage,
                      std::vector<Setting> settings) {
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    const size_t end = std::min(part.find(separator), part.size());
    const auto known = std::find_if(settings.begin(), settings.end(), [&](const Setting& setting) {
      return setting.name == part.substr(0, end);
    });
    const bool has_value = end < part.size();
    if (known == settings.end() || has_value == known->is_flag) {
      return Fail(ErrorCode::kInvalid,
                  fmt::format("\"{}\": write {}, or some of these, each once", part, usage));
    }
    if (auto read = known->read(has_value ? part.substr(end + 1) : std::string_view()); !read)
      return Fail(read.error().code, fmt::format("{}: {}", known->name, read.error().message));
    settings.erase(known);
  }
  return {};
}

std::function<Result<>(std::string_view)> ReadDuration(Duration& value) {
  return [&value](std::string_view text) -> Result<> {
    const auto duration = ParseDuration(text);
    if (!duration) return Fail(duration.error());
    value = ToDuration(*duration);
    return {};
  };
}

std::function<Result<>(std::string_view)> ReadNumber(double& value, double least, double most) {
  return ReadBetween(value, least, most, "number");
}

std::function<Result<>(std::string_view)> ReadCount(int64_t& value, int64_t least, int64_t most) {
  return ReadBetween(value, least, most, "whole number");
}

std::function<Result<>(std::string_view)> ReadWord(bool& value, std::string_view yes,
                                                   std::string_view no) {
  return [&value, yes, no](std::string_view text) -> Result<> {
    value = text == yes;
    if (value || text == no) return {};
    return Fail(ErrorCode::kInvalid, fmt::format("\"{}\": write {} or {}", text, yes, no));
  };
}

std::function<Result<>(std::string_view)> SetFlag(bool& flag) {
  return [&flag](std::string_view) -> Result<> {
    flag = true;
    return {};
  };
}

}  // namespace synergy::cli
