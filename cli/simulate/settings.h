#pragma once

// Options that take several settings: "bind=20ms,resize=2s".
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
  // Reads the value behind the separator. An error says what is wrong with it, without the name.
  std::function<Result<>(std::string_view value)> read;
  bool is_flag = false;  // it has no value
};

// Reads settings that are separated by commas, each at most once, with `separator` between name and
// value. `usage` shows all of them; an error for one that is not known quotes it. An error of a
// value begins with the name of its setting.
Result<> ReadSettings(std::string_view text, char separator, std::string_view usage,
                      std::vector<Setting> settings);

// Return what reads a duration, a number from `least` to `most`, a whole one, or one of two words
// (whether it is `yes`) into `value`.
std::function<Result<>(std::string_view)> ReadDuration(Duration& value);
std::function<Result<>(std::string_view)> ReadNumber(double& value, double least, double most);
std::function<Result<>(std::string_view)> ReadCount(int64_t& value, int64_t least, int64_t most);
std::function<Result<>(std::string_view)> ReadWord(bool& value, std::string_view yes,
                                                   std::string_view no);
// Returns what sets `flag`.
std::function<Result<>(std::string_view)> SetFlag(bool& flag);

}  // namespace synergy::cli
