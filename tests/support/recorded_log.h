#pragma once

// Keeps log lines instead of writing them, for tests of code that logs.
//
//   RecordedLog lines;
//   Logger log{lines, clock, LogLevel::kDebug, LogFormat::kText};
//   EXPECT_EQ(lines.Count("list failed"), 1U);
//
// Threading: from any thread.

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/log.h"

namespace synergy::testing {

class RecordedLog final : public LogSink {
 public:
  void Write(std::string_view line) override {
    const std::lock_guard lock(mutex_);
    lines_.emplace_back(line);
  }

  std::vector<std::string> lines() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }
  // Returns the number of lines that contain this text.
  size_t Count(std::string_view part) const {
    const std::vector<std::string> all = lines();
    return static_cast<size_t>(
        std::ranges::count_if(all, [&](const std::string& line) { return line.contains(part); }));
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

}  // namespace synergy::testing
