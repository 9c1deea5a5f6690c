#pragma once

// Reads the time that a logging library writes at the beginning of a line: "2026-11-21
// 07:05:03,250", "[2026/11/21 07:05:03]", "11/21/2026 07:05:03 PM", "I1121 07:05:03.25",
// "[07:05:03]", also behind names of processes and levels ("[rank0]: INFO 2026-..."), and in JSON
// ("timestamp": "2026-..."). Private to this folder.
//
// Threading: one owner.

#include <optional>
#include <string_view>

#include "core/clock.h"

namespace synergy {

class LineTime {
 public:
  // Returns nullopt if there is no time. Times count as UTC. If a time lacks the day or the year,
  // Read chooses the one nearest to the previous time.
  std::optional<WallTime> Read(std::string_view text);

 private:
  std::optional<WallTime> last_;
};

}  // namespace synergy
