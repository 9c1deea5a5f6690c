#include "nodeagent/gpus/xid_keeper.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace synergy::nodeagent {
namespace {

// The clocks that time an Xid and the end of its pod differ by less than this.
constexpr Duration kClockSkew = std::chrono::seconds(1);

}  // namespace

void XidKeeper::Replace(std::vector<wire::ResizeStatus> all) {
  std::set<std::string_view> uids;
  for (const wire::ResizeStatus& pod : all) uids.insert(pod.uid);
  const std::lock_guard lock(mutex_);
  std::vector<std::string> left;
  for (const auto& [uid, key] : present_) {
    if (!uids.contains(uid)) left.push_back(uid);
  }
  for (const std::string& uid : left) Leave(uid);
  for (const wire::ResizeStatus& pod : all) present_.try_emplace(pod.uid, pod.Key());
}

void XidKeeper::Upsert(wire::ResizeStatus pod) {
  const std::lock_guard lock(mutex_);
  present_.try_emplace(pod.uid, pod.Key());
}

void XidKeeper::Remove(const wire::ResizeStatus& pod) {
  const std::lock_guard lock(mutex_);
  Leave(pod.uid);
}

void XidKeeper::Leave(const std::string& uid) {
  const auto found = present_.find(uid);
  if (found == present_.end()) return;
  gone_.push_back({uid, std::move(found->second), clock_.WallNow()});
  present_.erase(found);
  Forget();
}

void XidKeeper::Forget() {
  const WallTime now = clock_.WallNow();
  while (!gone_.empty() && (gone_.size() > kMostGone || now - gone_.front().at > kRemembered))
    gone_.pop_front();
  std::erase_if(known_, [now](const Known& each) { return now - each.seen.at > XidOwners::kKept; });
}

std::optional<std::string> XidKeeper::UidOf(const ContainerXid& xid) const {
  const std::string key = xid.pod_namespace + "/" + xid.pod;
  for (const Gone& pod : gone_) {
    if (pod.key == key && xid.at <= pod.at + kClockSkew) return pod.uid;
  }
  const auto found = std::find_if(present_.begin(), present_.end(),
                                  [&](const auto& pod) { return pod.second == key; });
  if (found == present_.end()) return std::nullopt;
  return found->first;
}

void XidKeeper::Observe(const std::vector<ContainerXid>& xids) {
  const std::lock_guard lock(mutex_);
  Forget();
  for (const ContainerXid& xid : xids) {
    // A known Xid stays with the pod that had the name when it was first reported.
    if (std::any_of(known_.begin(), known_.end(),
                    [&](const Known& each) { return each.seen == xid; }))
      continue;
    const std::optional<std::string> uid = UidOf(xid);
    if (!uid) continue;
    std::erase_if(known_, [&](const Known& each) {
      return each.uid == *uid && each.seen.container == xid.container && each.seen.xid == xid.xid;
    });
    known_.push_back({xid, *uid});
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
