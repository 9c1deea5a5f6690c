#include "kube/line_splitter.h"

namespace synergy::kube {

bool LineSplitter::Add(std::string_view piece,
                       const std::function<bool(std::string_view)>& on_line) {
  while (!piece.empty()) {
    const size_t end = piece.find('\n');
    const std::string_view part = piece.substr(0, end);
    if (begun_.size() + part.size() > longest_) {
      too_long_ = true;
      return false;
    }
    if (end == std::string_view::npos) {
      begun_.append(part);
      return true;
    }
    piece.remove_prefix(end + 1);
    // Most lines come in one piece and need no copy.
    if (begun_.empty()) {
      if (!part.empty() && !on_line(part)) return false;
      continue;
    }
    begun_.append(part);
    const std::string line = std::move(begun_);
    begun_.clear();
    if (!on_line(line)) return false;
  }
  return true;
}

}  // namespace synergy::kube
