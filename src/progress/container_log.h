#pragma once

// The bytes of a log -> what was written, line by line, with the times.
//
// Three forms, told apart by the first line that is not empty: the kubelet's files (CRI: "TIME
// stdout|stderr P|F text"), what `kubectl logs --timestamps` prints ("TIME text"), and plain text.
// A carriage return begins a line anew, so each update of a progress bar is a line of its own, and
// a movement of the cursor ends one. Colours and other escape sequences are left out. Partial CRI
// lines (P) are joined, stdout and stderr each for itself. Lines that are not CRI's in a CRI log
// are passed over: a reader that begins in the middle of a file meets one.
//
// Threading: one owner. Memory: of each line its first kLongest bytes, whatever is fed.

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/clock.h"

namespace synergy {

class ContainerLog {
 public:
  enum class Form { kUnknown, kCri, kTimestamps, kPlain };
  static constexpr size_t kLongest = 4096;

  // `text` is not empty and lives as long as the call. `time` is the log's; in plain text that with
  // which the line itself begins ("2026-11-21 07:05:03,250"), also behind a prefix as kubectl's
  // ("[pod/train-0/main] "), taken as UTC.
  using OnLine = std::function<void(std::string_view text, std::optional<WallTime> time)>;

  explicit ContainerLog(Form form = Form::kUnknown) : form_(form) {}

  // Any piece of the log, in order.
  void Feed(std::string_view bytes, const OnLine& on_line);
  // There is no more: a last line may have no end.
  void End(const OnLine& on_line);
  Form form() const { return form_; }

 private:
  static constexpr size_t kStreams = 2;  // stdout and stderr

  // How much of `bytes` belongs to the head of a line, its time and so on.
  size_t TakeHead(std::string_view bytes);
  // Of a head that is whole: the text that was taken with it.
  std::string_view ReadHead();
  // `ends`: the line ends after `bytes`.
  void Add(std::string_view bytes, bool ends, const OnLine& on_line);
  void Emit(std::string_view text, std::optional<WallTime> time, const OnLine& on_line);

  // Text whose end has not come yet, and when its newest part came.
  struct Begun {
    std::string text;
    std::optional<WallTime> time;
  };

  Form form_;
  bool in_head_ = true;
  std::string head_;
  // Of the line whose text is being read.
  bool skipped_ = false;
  bool partial_ = false;
  size_t stream_ = 0;
  std::optional<WallTime> time_;
  std::array<Begun, kStreams> begun_;
  std::string cleaned_;  // room for a line without its escape sequences
};

}  // namespace synergy
