#include "wire/node_progress.h"

#include <fmt/format.h>

#include "wire/member_text.h"
#include "wire/progress_members.h"

namespace synergy::wire {

void Members(auto& each, Like<NodeProgress> auto& progress) {
  auto& [node, since, at, pods] = progress;
  each("node", node);
  each("since", since);
  each("at", at);
  each("pods", pods);
}

std::string WriteNodeProgress(const NodeProgress& progress) { return WriteMembers(progress); }

Result<NodeProgress> ReadNodeProgress(std::string_view text) {
  if (text.size() > kLongestNodeProgress) {
    return Fail(ErrorCode::kInvalid, fmt::format("longer than {} bytes", kLongestNodeProgress));
  }
  return ReadMembers<NodeProgress>(text);
}

}  // namespace synergy::wire
