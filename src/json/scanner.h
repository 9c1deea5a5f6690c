#pragma once

// A cursor over JSON text that builds no document, for messages of which only a few parts matter.
// In skipped text, it checks only that strings end and brackets balance; the kinds of brackets must
// match in the innermost 64 levels. Callers cut out the parts that matter and parse them with
// Document.
//
// Threading: one owner. Memory: none, however deeply the text is nested.

#include <cstddef>
#include <string_view>

namespace synergy::json {

// Returns the position of the bracket that closes the outermost of `depth` open brackets; `end` if
// there is none. With `depth` 0, `at` is an opening bracket. REQUIRES: `at` is not inside a string.
const char* FindClosing(const char* at, const char* end, size_t depth);

class Scanner {
 public:
  explicit Scanner(std::string_view text)
      : begin_(text.data()), at_(begin_), end_(begin_ + text.size()) {}

  size_t position() const { return static_cast<size_t>(at_ - begin_); }
  // Returns the text from an earlier position to the cursor.
  std::string_view Text(size_t start) const { return {begin_ + start, position() - start}; }

  // Returns the next character that is not white space; '\0' at the end. Does not move past it.
  char Peek() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
    return at_ == end_ ? '\0' : *at_;
  }
  // Moves past `expected` if it is next.
  bool Take(char expected) {
    if (Peek() != expected || at_ == end_) return false;
    ++at_;
    return true;
  }

  // Returns the string at the cursor with its quotes, as spelled; empty if there is no whole
  // string. Sets `plain` to whether the string has no escapes, so that its value is the text
  // between the quotes.
  std::string_view TakeString(bool& plain);
  // Returns the value at the cursor, of any kind; empty if it does not end.
  std::string_view TakeValue();
  // Moves past bytes that another reader has read.
  void Pass(size_t bytes) { at_ += bytes; }

 private:
  bool SkipString();
  bool SkipContainer();

  const char* begin_;
  const char* at_;
  const char* end_;
};

}  // namespace synergy::json
