#pragma once

// Reads from a log how its program ended.
//
// Threading: pure. Time: proportional to the size of the tail.

#include <cstdint>
#include <optional>
#include <string>

#include "core/clock.h"
#include "failure/log_tail.h"
#include "failure/rules.h"

namespace synergy {

struct LogFinding {
  const LogRule* rule = nullptr;  // a literal of the table
  std::string evidence;
  std::optional<WallTime> time;  // the line's, if the log has times
};

struct LogReading {
  std::optional<LogFinding> finding;
  // An exception that no rule recognises ended the program.
  bool unexplained = false;
  // The log's last lines report an end, and nothing reports an error.
  bool finished = false;
  int64_t iterations = 0;  // that the log shows
  // From the last of them to the log's end; absent if not known.
  std::optional<Duration> since_iteration;
};

// Looks at tracebacks first: of the last one that is not a launcher's wrapper, and of a chain, the
// last exception that a rule recognises. Errors after which the training went on do not count, nor
// do warnings, retries and quoted text. Of several processes, the one that counts is one with a
// cause of its own, not the failure of another.
LogReading ReadLog(const LogTail& log);

}  // namespace synergy
