#pragma once

// A cursor over JSON text that builds nothing: for messages of which few parts matter. What is
// skipped is checked for balanced brackets and closed strings only; what matters is cut out and
// read by Document.
//
// Threading: one owner. Memory: none. Nesting has no influence on the stack.

#include <cstddef>
#include <string_view>

namespace synergy::json {

class Scanner {
 public:
  static constexpr int kDeepest = 64;

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
  // The value at the cursor, whatever it is; empty when it does not end or is nested deeper than
  // kDeepest.
  std::string_view TakeValue();

 private:
  bool SkipString();
  bool SkipContainer();

  const char* begin_;
  const char* at_;
  const char* end_;
};

}  // namespace synergy::json
