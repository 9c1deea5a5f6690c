#include "extender/nodes/elsewhere.h"

#include <string>
#include <utility>

namespace synergy::extender {

void Elsewhere::Replace(std::vector<PublishedAvoidedNodes> all) {
  Upsert(all.empty() ? PublishedAvoidedNodes() : std::move(all.front()));
}

void Elsewhere::Upsert(PublishedAvoidedNodes published) {
  const std::lock_guard lock(mutex_);
  nodes_ = std::move(published.nodes);
}

NodeSet Elsewhere::AvoidedBy(const Pod& pod) const {
  NodeSet avoided;
  const WallTime now = clock_.WallNow();
  const std::lock_guard lock(mutex_);
  if (nodes_.empty()) return avoided;
  const auto add = [&](const Pod& one) {
    if (!one.fungible || one.fungible->workload.empty()) return;
    for (std::string& node : nodes_.Of(one.pod_namespace, one.fungible->workload, now))
      avoided.insert(std::move(node));
  };
  add(pod);
  if (!pod.IsOfGang()) return avoided;
  for (const GangMember& member : state_.GangMembers(pod.gang->name)) add(*member.pod);
  return avoided;
}

}  // namespace synergy::extender
