#include "wire/agents/node_progress.h"

#include <fmt/format.h>

#include "wire/agents/progress_members.h"
#include "wire/base/member_text.h"

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
