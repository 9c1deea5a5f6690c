#include "progress/container_log.h"

#include <algorithm>

#include "core/wall_time.h"

namespace synergy {
namespace {

// Longer than any "TIME stdout F ".
constexpr size_t kLongestHead = 80;
constexpr char kEscape = '\x1b';
constexpr char kBell = '\a';
constexpr char kBackspace = '\b';

// Removes and returns the next word of `text`, with the space after it.
std::string_view TakeWord(std::string_view& text) {
  const size_t end = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

// Removes one escape sequence, complete or not; returns its last byte.
char TakeEscape(std::string_view& text) {
  text.remove_prefix(1);
  if (text.empty()) return 0;
  const char kind = text.front();
  text.remove_prefix(1);
  if (kind == '[') {
    const auto last = std::find_if(text.begin(), text.end(), [](char c) { return c >= '@'; });
    const char final = last == text.end() ? '\0' : *last;
    text.remove_prefix(std::min<size_t>(text.size(), static_cast<size_t>(last - text.begin()) + 1));
    return final;
  }
  if (kind == ']') {  // a title or a link, which ends at a bell or ESC backslash
    const size_t end = std::min(text.find_first_of("\a\x1b"), text.size());
    text.remove_prefix(end);
    if (text.starts_with(kBell)) text.remove_prefix(1);
  }
  return 0;
}

// Returns whether the sequence moves the cursor to another line or to the beginning of this one.
bool MovesCursor(char final) {
  return std::string_view("ABEFGHf").find(final) != std::string_view::npos && final != 0;
}

}  // namespace

void ContainerLog::Feed(std::string_view bytes, const OnLine& on_line) {
  while (!bytes.empty()) {
    if (in_head_ && form_ != Form::kPlain) {
      bytes.remove_prefix(TakeHead(bytes));
      if (in_head_) return;
      const std::string_view begun = ReadHead();
      if (!begun.empty()) Add(begun, false, on_line);
      head_.clear();
      continue;
    }
    const size_t end = bytes.find('\n');
    const bool ends = end != std::string_view::npos;
    if (!skipped_) Add(bytes.substr(0, end), ends && !partial_, on_line);
    if (!ends) return;
    bytes.remove_prefix(end + 1);
    in_head_ = true;
  }
}

void ContainerLog::End(const OnLine& on_line) {
  if (in_head_ && !head_.empty()) {
    const std::string_view begun = ReadHead();
    if (!skipped_) Add(begun, false, on_line);
    head_.clear();
  }
  for (stream_ = 0; stream_ < kStreams; ++stream_) Add({}, true, on_line);
  stream_ = 0;
  in_head_ = true;
}

size_t ContainerLog::TakeHead(std::string_view bytes) {
  const std::ptrdiff_t words = form_ == Form::kTimestamps ? 1 : 3;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const char c = bytes[i];
    if (c == '\n') {
      if (head_.empty()) continue;
      in_head_ = false;
      return i;
    }
    head_ += c;
    if (head_.size() == kLongestHead ||
        (c == ' ' && std::count(head_.begin(), head_.end(), ' ') == words)) {
      in_head_ = false;
      return i + 1;
    }
  }
  return bytes.size();
}

std::string_view ContainerLog::ReadHead() {
  std::string_view rest = head_;
  time_ = ParseTime(TakeWord(rest));
  const std::string_view after_time = rest;
  const std::string_view stream = TakeWord(rest);
  const std::string_view tag = TakeWord(rest);
  const bool cri = time_ && (stream == "stdout" || stream == "stderr") &&
                   (tag.starts_with('F') || tag.starts_with('P'));
  if (form_ == Form::kUnknown) {
    form_ = cri ? Form::kCri : time_ ? Form::kTimestamps : Form::kPlain;
  }
  if (form_ == Form::kCri) {
    skipped_ = !cri;
    partial_ = tag.starts_with('P');
    stream_ = stream == "stderr" ? 1 : 0;
    return {};
  }
  return form_ == Form::kTimestamps && time_ ? after_time : head_;
}

void ContainerLog::Add(std::string_view bytes, bool ends, const OnLine& on_line) {
  Begun& begun = begun_[stream_];
  for (;;) {
    const size_t end = bytes.find('\r');
    const bool whole = ends || end != std::string_view::npos;
    const std::string_view part = bytes.substr(0, end);
    // Most lines arrive in one piece and need no copy.
    if (whole && begun.text.empty()) {
      Emit(part.substr(0, kLongest), time_, on_line);
    } else {
      begun.text.append(part.substr(0, kLongest - begun.text.size()));
      // An update of a bar ends when the next one begins, perhaps minutes later.
      if (!part.empty()) begun.time = time_;
      if (whole) {
        Emit(begun.text, begun.time, on_line);
        begun.text.clear();
      }
    }
    if (end == std::string_view::npos) return;
    bytes.remove_prefix(end + 1);
  }
}

void ContainerLog::Emit(std::string_view text, std::optional<WallTime> time,
                        const OnLine& on_line) {
  if (text.empty()) return;
  const auto emit = [&](std::string_view line) {
    on_line(line, form_ == Form::kPlain ? line_time_.Read(line) : time);
  };
  if (text.find(kEscape) == std::string_view::npos &&
      text.find(kBackspace) == std::string_view::npos) {
    emit(text);
    return;
  }
  cleaned_.clear();
  const auto end_line = [&] {
    if (!cleaned_.empty()) emit(cleaned_);
    cleaned_.clear();
  };
  while (!text.empty()) {
    if (text.front() == kEscape) {
      if (MovesCursor(TakeEscape(text))) end_line();
    } else {
      if (text.front() != kBackspace) cleaned_ += text.front();
      text.remove_prefix(1);
    }
  }
  end_line();
}

}  // namespace synergy
