#pragma once

// A cursor over JSON text that builds nothing: for messages of which few parts matter. What is
// skipped is checked for closed strings and balanced brackets only, of the innermost 64 levels also
// for their kind; what matters is cut out and read by Document.
//
// Threading: one owner. Memory: none, however deep the text is nested.

#include <cstddef>
#include <string_view>

namespace synergy::json {

// Where the last of `depth` open brackets is closed, of text in which `at` is in no string; `end`
// where it is not.
const char* FindClosing(const char* at, const char* end, size_t depth);

class Scanner {
 public:
  explicit Scanner(std::string_view text)
      : begin_(text.data()), at_(begin_), end_(begin_ + text.size()) {}

  size_t position() const { return static_cast<size_t>(at_ - begin_); }
  // From an earlier position to the cursor.
  std::string_view Text(size_t start) const { return {begin_ + start, position() - start}; }

  // The next character that is not white space, '\0' at the end. Does not move past it.
  char Peek() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
    return at_ == end_ ? '\0' : *at_;
  }
  // Moves past `expected`, if that is next.
  bool Take(char expected) {
    if (Peek() != expected || at_ == end_) return false;
    ++at_;
    return true;
  }

  // The string at the cursor, with its quotes, as it is spelled; empty when there is no whole
  // string. `plain` says that it has no escapes, so that what is between the quotes is what it
  // means.
  std::string_view TakeString(bool& plain);
  // The value at the cursor, whatever it is; empty when it does not end.
  std::string_view TakeValue();
  // Moves past so many bytes, which somebody else has read.
  void Pass(size_t bytes) { at_ += bytes; }

 private:
  bool SkipString();
  bool SkipContainer();

  const char* begin_;
  const char* at_;
  const char* end_;
};

}  // namespace synergy::json
