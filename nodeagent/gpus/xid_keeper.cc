#include "nodeagent/gpus/xid_keeper.h"

#include <algorithm>

namespace synergy::nodeagent {

void XidKeeper::Observe(const std::vector<ContainerXid>& xids) {
  const WallTime now = clock_.WallNow();
  const std::vector<PodPointer> pods = xids.empty() ? std::vector<PodPointer>() : pods_.All();
  const std::lock_guard lock(mutex_);
  std::erase_if(known_, [now](const Known& each) { return now - each.seen.at > XidOwners::kKept; });
  for (const ContainerXid& xid : xids) {
    // A known Xid belongs to the pod that had the name then.
    if (std::any_of(known_.begin(), known_.end(),
                    [&](const Known& each) { return each.seen == xid; }))
      continue;
    const auto pod = std::find_if(pods.begin(), pods.end(), [&](const PodPointer& each) {
      return each->pod_namespace == xid.pod_namespace && each->name == xid.pod;
    });
    if (pod == pods.end()) continue;
    std::erase_if(known_, [&](const Known& each) {
      return each.uid == (*pod)->uid && each.seen.container == xid.container &&
             each.seen.xid == xid.xid;
    });
    known_.push_back({xid, (*pod)->uid});
    if (known_.size() > XidOwners::kMost) known_.pop_front();
  }
}

std::vector<PodXid> XidKeeper::Report() const {
  std::vector<PodXid> report;
  const std::lock_guard lock(mutex_);
  for (const Known& each : known_)
    report.push_back({each.uid, each.seen.container, each.seen.xid, each.seen.at});
  return report;
}

}  // namespace synergy::nodeagent
