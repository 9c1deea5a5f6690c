#pragma once

// Separates the text of a log line from what loggers and launchers put in front of it.
//
// Threading: pure. Time is linear in the line's length (RE2).

#include <string>
#include <string_view>

namespace synergy {

enum class LogLevel { kNone, kInfo, kWarning, kError };

struct LogLine {
  std::string_view body;  // without the prefixes; keeps a traceback's indentation
  // The prefixes that name a process ("[rank3]", "(train pid=7)", "worker-0: "), joined; empty if
  // there are none.
  std::string origin;
  LogLevel level = LogLevel::kNone;
};

// Removes times, levels, source locations, and prefixes that name a process, a pod or a host.
LogLine SplitLine(std::string_view line);

}  // namespace synergy
