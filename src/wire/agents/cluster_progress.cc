#include "wire/agents/cluster_progress.h"

#include "wire/agents/progress_members.h"
#include "wire/base/member_text.h"

namespace synergy::wire {

void Members(auto& each, Like<KnownProgress> auto& known) {
  auto& [pod, node, since, at, age] = known;
  Members(each, pod);
  each("node", node);
  each("since", since);
  each("at", at);
  each("age", age);
}

void Members(auto& each, Like<ClusterProgress> auto& progress) { each("pods", progress.pods); }

std::string WriteClusterProgress(const ClusterProgress& progress) { return WriteMembers(progress); }

Result<ClusterProgress> ReadClusterProgress(std::string_view text) {
  return ReadMembers<ClusterProgress>(text);
}

}  // namespace synergy::wire
