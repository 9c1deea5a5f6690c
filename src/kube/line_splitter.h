#pragma once

// Splits the pieces of a stream into lines. Private to this folder.
//
// Threading: one owner at a time.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace synergy::kube {

class LineSplitter {
 public:
  explicit LineSplitter(size_t longest) : longest_(longest) {}

  // Calls `on_line` for every line that `piece` completes, without its newline. Returns false if
  // `on_line` did or a line is too long.
  bool Add(std::string_view piece, const std::function<bool(std::string_view)>& on_line);
  bool too_long() const { return too_long_; }

 private:
  const size_t longest_;
  std::string begun_;  // beginning of an incomplete line
  bool too_long_ = false;
};

}  // namespace synergy::kube
