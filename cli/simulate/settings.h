#pragma once

// Reads options that take several settings: "bind=20ms,resize=2s".
//
// Threading: pure.

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "core/result.h"

namespace synergy::cli {

struct Setting {
  std::string_view name;
  // Reads the value after the separator. An error describes what is wrong with the value, without
  // the setting's name.
  std::function<Result<>(std::string_view value)> read;
  bool is_flag = false;  // it has no value
};

// Reads settings that are separated by commas, each at most once, with `separator` between name and
// value. `usage` shows all settings; the error for an unknown setting quotes it. The error for a
// bad value begins with the name of its setting.
Result<> ReadSettings(std::string_view text, char separator, std::string_view usage,
                      std::vector<Setting> settings);

// Return functions that read into `value`: a duration, a number or whole number from `least` to
// `most`, or one of two words (true for `yes`).
std::function<Result<>(std::string_view)> ReadDuration(Duration& value);
std::function<Result<>(std::string_view)> ReadNumber(double& value, double least, double most);
std::function<Result<>(std::string_view)> ReadCount(int64_t& value, int64_t least, int64_t most);
std::function<Result<>(std::string_view)> ReadWord(bool& value, std::string_view yes,
                                                   std::string_view no);
// Returns a function that sets `flag`.
std::function<Result<>(std::string_view)> SetFlag(bool& flag);

}  // namespace synergy::cli
