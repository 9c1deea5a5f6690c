#pragma once

// Splits the bytes of a log into the lines that were written, with their times.
//
// The first non-empty line decides between three forms: the kubelet's files (CRI: "TIME
// stdout|stderr P|F text"), the output of `kubectl logs --timestamps` ("TIME text"), and plain
// text. A carriage return restarts a line, so each update of a progress bar is a separate line; a
// cursor movement ends a line. Colours and other escape sequences are removed. Partial CRI lines
// (P) are joined, separately for stdout and stderr. In a CRI log, lines of another form are
// skipped, because a reader that begins in the middle of a file finds one.
//
// Threading: one owner. Memory: the first kLongest bytes of each line, whatever the input.

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/clock.h"
#include "progress/line_time.h"

namespace synergy {

class ContainerLog {
 public:
  enum class Form { kUnknown, kCri, kTimestamps, kPlain };
  static constexpr size_t kLongest = 4096;

  // `text` is not empty, and valid only during the call. `time` is the time that the container
  // runtime wrote, or in plain text the line's own time (line_time.h).
  using OnLine = std::function<void(std::string_view text, std::optional<WallTime> time)>;

  explicit ContainerLog(Form form = Form::kUnknown) : form_(form) {}

  // Adds the next piece of the log. A piece may begin or end within a line.
  void Feed(std::string_view bytes, const OnLine& on_line);
  // Ends the log, whose last line may lack a newline.
  void End(const OnLine& on_line);
  Form form() const { return form_; }

 private:
  static constexpr size_t kStreams = 2;  // stdout and stderr

  // Returns how many of `bytes` belong to the head of a line (time, stream and flag).
  size_t TakeHead(std::string_view bytes);
  // Reads a complete head. Returns the text that arrived with it.
  std::string_view ReadHead();
  // `ends`: the line ends after `bytes`.
  void Add(std::string_view bytes, bool ends, const OnLine& on_line);
  void Emit(std::string_view text, std::optional<WallTime> time, const OnLine& on_line);

  // An unfinished line, and the time of its newest part.
  struct Begun {
    std::string text;
    std::optional<WallTime> time;
  };

  Form form_;
  bool in_head_ = true;
  std::string head_;
  // State of the line being read.
  bool skipped_ = false;
  bool partial_ = false;
  size_t stream_ = 0;
  std::optional<WallTime> time_;
  std::array<Begun, kStreams> begun_;
  LineTime line_time_;
  std::string cleaned_;  // buffer for a line without its escape sequences
};

}  // namespace synergy
