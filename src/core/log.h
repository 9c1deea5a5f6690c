#pragma once

// Writes log lines as text or JSON. Never pass secrets to it: nothing is redacted.
//
// Threading: any thread may use a Logger; lines never mix.

#include <concepts>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "core/clock.h"
#include "core/result.h"

namespace synergy {

enum class LogLevel { kDebug, kInfo, kWarn, kError };
enum class LogFormat { kText, kJson };

Result<LogLevel> ParseLogLevel(std::string_view text);
Result<LogFormat> ParseLogFormat(std::string_view text);

struct LogField {
  LogField(std::string_view field_key, std::string_view field_value)
      : key(field_key), value(field_value), quoted(true) {}
  LogField(std::string_view field_key, const char* field_value)
      : LogField(field_key, std::string_view(field_value)) {}
  LogField(std::string_view field_key, const std::string& field_value)
      : LogField(field_key, std::string_view(field_value)) {}
  LogField(std::string_view field_key, bool field_value)
      : key(field_key), value(field_value ? "true" : "false"), quoted(false) {}
  template <std::integral Number>
  LogField(std::string_view field_key, Number number)
      : key(field_key), value(std::to_string(number)), quoted(false) {}
  // Infinity and NaN are written as strings: JSON has no such numbers.
  LogField(std::string_view field_key, double number);

  std::string_view key;
  std::string value;
  bool quoted;  // a string rather than a number or a truth value
};

// Receives complete lines, including their newlines. Only one thread at a time calls Write.
class LogSink {
 public:
  virtual ~LogSink() = default;
  virtual void Write(std::string_view line) = 0;
};

// Returns a sink for standard error, which lives as long as the process.
LogSink& StderrSink();

class Logger {
 public:
  // `sink` and `clock` must outlive the logger.
  Logger(LogSink& sink, const Clock& clock, LogLevel level, LogFormat format);
  ~Logger();
  Logger(const Logger&) = delete;
  Logger& operator=(const Logger&) = delete;

  using Fields = std::initializer_list<LogField>;
  bool Enabled(LogLevel level) const { return level >= level_; }
  void Log(LogLevel level, std::string_view message, Fields fields);
  void Debug(std::string_view message, Fields fields = {}) {
    Log(LogLevel::kDebug, message, fields);
  }
  void Info(std::string_view message, Fields fields = {}) { Log(LogLevel::kInfo, message, fields); }
  void Warn(std::string_view message, Fields fields = {}) { Log(LogLevel::kWarn, message, fields); }
  void Error(std::string_view message, Fields fields = {}) {
    Log(LogLevel::kError, message, fields);
  }

 private:
  struct State;

  const LogLevel level_;
  std::unique_ptr<State> state_;
};

}  // namespace synergy
