#pragma once

// Finds in a log how the program ended.
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
  const LogRule* rule = nullptr;  // a literal from the table
  std::string evidence;
  std::optional<WallTime> time;  // of the line, if the log has times
};

struct LogReading {
  std::optional<LogFinding> finding;
  // An exception that no rule recognises ended the program.
  bool unexplained = false;
  // The log's last lines report an end, and nothing reports an error.
  bool finished = false;
  int64_t iterations = 0;  // iterations that the log shows
  // Time from the last iteration to the end of the log; absent if unknown.
  std::optional<Duration> since_iteration;
  // Times of the last line that reports a checkpoint, and of the first iteration; absent if
  // unknown.
  std::optional<WallTime> checkpoint;
  std::optional<WallTime> first_iteration;
};

// Prefers tracebacks: it takes the last one that is not from a launcher's wrapper, and in a chain
// the last exception that a rule recognises. Ignores errors after which the training continued,
// warnings, retries and quoted text. Prefers a process that failed by itself to a process that
// encountered the failure of another.
LogReading ReadLog(const LogTail& log);

}  // namespace synergy
