#include "inventory/gpu_xids.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

namespace synergy {

void XidOwners::Add(std::string uuid, uint64_t xid, WallTime at) {
  if (xid == 0 || xid > std::numeric_limits<int32_t>::max()) return;
  unattributed_.push_back({std::move(uuid), static_cast<int32_t>(xid), at});
  if (unattributed_.size() > kMost) unattributed_.pop_front();
}

std::vector<ContainerXid> XidOwners::Recent(const std::vector<DeviceOwner>& owners, WallTime now) {
  for (const Seen& seen : unattributed_) {
    if (!Attribute(seen, before_)) Attribute(seen, owners);
  }
  unattributed_.clear();
  before_ = owners;
  std::erase_if(recent_, [now](const ContainerXid& each) { return now - each.at > kKept; });
  return {recent_.begin(), recent_.end()};
}

bool XidOwners::Attribute(const Seen& seen, const std::vector<DeviceOwner>& owners) {
  bool has_owner = false;
  for (const DeviceOwner& owner : owners) {
    if (WithoutSlice(owner.device) != seen.uuid) continue;
    has_owner = true;
    Keep({owner.pod_namespace, owner.pod, owner.container, seen.xid, seen.at});
  }
  return has_owner;
}

void XidOwners::Keep(ContainerXid xid) {
  const auto key = [](const ContainerXid& each) {
    return std::tie(each.pod_namespace, each.pod, each.container, each.xid);
  };
  std::erase_if(recent_, [&](const ContainerXid& each) { return key(each) == key(xid); });
  recent_.push_back(std::move(xid));
  if (recent_.size() > kMost) recent_.pop_front();
}

}  // namespace synergy
