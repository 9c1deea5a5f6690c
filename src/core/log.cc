#include "core/log.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <mutex>

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace synergy {
namespace {

std::string_view LevelName(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarn:
      return "warn";
    case LogLevel::kError:
      return "error";
  }
  return "unknown";
}

// Returns the length of the UTF-8 character at the start of `text`, 0 if there is none (RFC 3629:
// no overlong forms, no surrogates, nothing above U+10FFFF).
size_t LeadingCharacter(std::string_view text) {
  const auto byte = [text](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first < 0xc2   ? 0
                        : first < 0xe0 ? 2
                        : first < 0xf0 ? 3
                        : first < 0xf5 ? 4
                                       : 0;
  if (length == 0 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const unsigned char second = byte(1);
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool surrogate = first == 0xed && second >= 0xa0;
  const bool too_high = first == 0xf4 && second >= 0x90;
  return overlong || surrogate || too_high ? 0 : length;
}

// Appends a JSON string for any bytes: each byte that is not UTF-8 becomes U+FFFD.
void AppendQuoted(fmt::memory_buffer& out, std::string_view text) {
  out.push_back('"');
  while (!text.empty()) {
    const size_t length = LeadingCharacter(text);
    const char c = text.front();
    const auto byte = static_cast<unsigned char>(c);
    if (length == 0) {
      out.append(std::string_view("\\ufffd"));
    } else if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(c);
    } else if (byte < 0x20 || byte == 0x7f) {
      fmt::format_to(fmt::appender(out), "\\u{:04x}", byte);
    } else {
      out.append(text.substr(0, length));
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  out.push_back('"');
}

bool IsBareWord(std::string_view text) {
  if (text.empty()) return false;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= 0x20 || byte >= 0x7f || c == '"' || c == '=' || c == '\\') return false;
  }
  return true;
}

void AppendField(fmt::memory_buffer& out, LogFormat format, const LogField& field) {
  if (format == LogFormat::kJson) {
    out.push_back(',');
    AppendQuoted(out, field.key);
    out.push_back(':');
    if (field.quoted) {
      AppendQuoted(out, field.value);
    } else {
      out.append(field.value);
    }
    return;
  }
  out.push_back(' ');
  out.append(field.key);
  out.push_back('=');
  if (IsBareWord(field.value)) {
    out.append(field.value);
  } else {
    AppendQuoted(out, field.value);
  }
}

class StderrLogSink final : public LogSink {
 public:
  void Write(std::string_view line) override { std::fwrite(line.data(), 1, line.size(), stderr); }
};

}  // namespace

Result<LogLevel> ParseLogLevel(std::string_view text) {
  for (const LogLevel level :
       {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarn, LogLevel::kError}) {
    if (text == LevelName(level)) return level;
  }
  return Fail(ErrorCode::kInvalid,
              fmt::format("unknown log level \"{}\": use debug, info, warn or error", text));
}

Result<LogFormat> ParseLogFormat(std::string_view text) {
  if (text == "text") return LogFormat::kText;
  if (text == "json") return LogFormat::kJson;
  return Fail(ErrorCode::kInvalid,
              fmt::format("unknown log format \"{}\": use text or json", text));
}

LogSink& StderrSink() {
  static StderrLogSink sink;
  return sink;
}

LogField::LogField(std::string_view field_key, double number)
    : key(field_key), value(fmt::format("{}", number)), quoted(!std::isfinite(number)) {}

struct Logger::State {
  LogSink& sink;
  const Clock& clock;
  LogFormat format;
  std::mutex mutex;
};

Logger::Logger(LogSink& sink, const Clock& clock, LogLevel level, LogFormat format)
    : level_(level), state_(new State{sink, clock, format, {}}) {}

Logger::~Logger() = default;

void Logger::Log(LogLevel level, std::string_view message, Fields fields) {
  if (!Enabled(level)) return;
  const auto now = std::chrono::time_point_cast<std::chrono::milliseconds>(state_->clock.WallNow());
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now);
  const std::string time = fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                                       fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)),
                                       (now - seconds).count());
  fmt::memory_buffer line;
  if (state_->format == LogFormat::kJson) {
    fmt::format_to(fmt::appender(line), R"({{"time":"{}","level":"{}","msg":)", time,
                   LevelName(level));
    AppendQuoted(line, message);
  } else {
    fmt::format_to(fmt::appender(line), "time={} level={} msg=", time, LevelName(level));
    AppendQuoted(line, message);
  }
  for (const LogField& field : fields) AppendField(line, state_->format, field);
  line.append(std::string_view(state_->format == LogFormat::kJson ? "}\n" : "\n"));

  const std::lock_guard lock(state_->mutex);
  state_->sink.Write({line.data(), line.size()});
}

}  // namespace synergy
