#pragma once

// A logger for code under test that discards its lines.

#include <string_view>

#include "core/clock.h"
#include "core/log.h"

namespace synergy::testing {

class SilentSink final : public LogSink {
 public:
  void Write(std::string_view /*line*/) override {}
};

struct SilentLog {
  SilentSink sink;
  Logger log{sink, SystemClock(), LogLevel::kDebug, LogFormat::kText};
};

}  // namespace synergy::testing
