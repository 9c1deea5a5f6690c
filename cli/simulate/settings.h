#pragma once

// Options that take several settings: "bind=20ms,resize=2s".
//
// Threading: pure.

#include <functional>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "core/result.h"

namespace synergy::cli {

struct Setting {
  std::string_view name;
  // Reads what stands behind the separator. An error says what is wrong with the value.
  std::function<Result<>(std::string_view value)> read;
  bool is_flag = false;  // it has no value
};

// Reads settings that are separated by commas, each at most once, with `separator` between name and
// value. `usage` shows all of them; an error for one that is not known quotes it. Errors of values
// begin with the setting's name.
Result<> ReadSettings(std::string_view text, char separator, std::string_view usage,
                      std::vector<Setting> settings);

// Return what reads a duration, or a number from `least` to `most`, into `value`.
std::function<Result<>(std::string_view)> ReadDuration(Duration& value);
std::function<Result<>(std::string_view)> ReadNumber(double& value, double least, double most);
// Returns what sets `flag`.
std::function<Result<>(std::string_view)> SetFlag(bool& flag);

}  // namespace synergy::cli
