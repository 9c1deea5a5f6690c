#include "cluster/devices/device_catalog.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace synergy {
namespace {

std::string KeyOf(std::string_view pod_namespace, std::string_view name) {
  return fmt::format("{}/{}", pod_namespace, name);
}
std::string KeyOf(const ResourceClaim& claim) { return KeyOf(claim.pod_namespace, claim.name); }
std::string PoolOf(const auto& from) { return fmt::format("{}/{}", from.driver, from.pool); }

// Prefixes of the keys of units.
constexpr std::string_view kDevice = "device ";
constexpr std::string_view kClaim = "claim ";

int64_t NewestOf(const std::map<std::string, ResourceSlice>& slices) {
  int64_t newest = 0;
  for (const auto& [name, slice] : slices) newest = std::max(newest, slice.generation);
  return newest;
}

// Calls visit(device) for each device of the pool's newest generation.
void ForEachDevice(const std::map<std::string, ResourceSlice>& slices, auto visit) {
  const int64_t newest = NewestOf(slices);
  for (const auto& [name, slice] : slices) {
    if (slice.generation != newest) continue;
    for (const SliceDevice& device : slice.devices) visit(device);
  }
}

void SetGpus(ManagedContainer& container, Gpus gpus) {
  for (ResourceVector* amounts :
       {&container.requested, &container.demand, &container.floor, &container.fair_share,
        &container.in_force, &container.set_aside}) {
    amounts->gpus = gpus;
  }
  if (!container.change) return;
  container.change->from.gpus = gpus;
  container.change->to.gpus = gpus;
}

}  // namespace

void DeviceCatalog::Replace(std::vector<ResourceClaim> claims) {
  std::set<std::string> listed;
  for (const ResourceClaim& claim : claims) listed.insert(KeyOf(claim));
  std::vector<std::string> gone;
  for (const auto& [key, claim] : claims_) {
    if (!listed.contains(key)) gone.push_back(key);
  }
  for (const std::string& key : gone) Remove(key);
  for (ResourceClaim& claim : claims) Put(std::move(claim));
}

void DeviceCatalog::Put(ResourceClaim claim) {
  const std::string key = KeyOf(claim);
  const auto known = claims_.find(key);
  if (known != claims_.end()) {
    if (known->second == claim) return;
    Remove(key);
  }
  claim_keys_[claim.uid] = key;
  for (const AllocatedDevice& device : claim.devices) pool_claims_[PoolOf(device)].insert(key);
  claims_.insert_or_assign(key, std::move(claim));
  MarkUsers(key);
}

void DeviceCatalog::RemoveClaim(const std::string& uid) {
  // Another claim of the same name may exist by now.
  const auto key = claim_keys_.find(uid);
  if (key != claim_keys_.end()) Remove(std::string(key->second));
}

void DeviceCatalog::Remove(const std::string& key) {
  const auto claim = claims_.find(key);
  if (claim == claims_.end()) return;
  for (const AllocatedDevice& device : claim->second.devices) {
    const auto pool = pool_claims_.find(PoolOf(device));
    if (pool == pool_claims_.end()) continue;
    pool->second.erase(key);
    if (pool->second.empty()) pool_claims_.erase(pool);
  }
  claim_keys_.erase(claim->second.uid);
  claims_.erase(claim);
  MarkUsers(key);
}

void DeviceCatalog::Replace(std::vector<ResourceSlice> slices) {
  std::set<std::string> listed;
  for (const ResourceSlice& slice : slices) listed.insert(slice.name);
  std::vector<std::string> gone;
  for (const auto& [name, pool] : slice_pools_) {
    if (!listed.contains(name)) gone.push_back(name);
  }
  for (const std::string& name : gone) RemoveSlice(name);
  for (ResourceSlice& slice : slices) Put(std::move(slice));
}

void DeviceCatalog::Put(ResourceSlice slice) {
  const std::string pool = PoolOf(slice);
  const auto known = slice_pools_.find(slice.name);
  if (known != slice_pools_.end()) {
    if (known->second == pool && pools_[pool].at(slice.name) == slice) return;
    if (known->second != pool) RemoveSlice(slice.name);
  }
  UnlistNodes(pool);
  slice_pools_[slice.name] = pool;
  std::string name = slice.name;
  pools_[pool].insert_or_assign(std::move(name), std::move(slice));
  ListNodes(pool);
}

void DeviceCatalog::RemoveSlice(const std::string& name) {
  const auto known = slice_pools_.find(name);
  if (known == slice_pools_.end()) return;
  const std::string pool = known->second;
  UnlistNodes(pool);
  pools_[pool].erase(name);
  slice_pools_.erase(known);
  ListNodes(pool);
  if (pools_[pool].empty()) pools_.erase(pool);
}

void DeviceCatalog::UnlistNodes(const std::string& pool) {
  for (const auto& [name, slice] : pools_[pool]) {
    for (const SliceDevice& device : slice.devices) {
      const auto pools = node_pools_.find(device.node);
      if (pools == node_pools_.end()) continue;
      pools->second.erase(pool);
      if (pools->second.empty()) node_pools_.erase(pools);
      changed_nodes_.insert(device.node);
    }
  }
}

void DeviceCatalog::ListNodes(const std::string& pool) {
  for (const auto& [name, slice] : pools_[pool]) {
    for (const SliceDevice& device : slice.devices) {
      if (device.node.empty() || !rules_.IsGpuClass(slice.driver)) continue;
      node_pools_[device.node].insert(pool);
      changed_nodes_.insert(device.node);
    }
  }
  const auto claims = pool_claims_.find(pool);
  if (claims == pool_claims_.end()) return;
  for (const std::string& claim : claims->second) MarkUsers(claim);
}

template <class Change>
void DeviceCatalog::ChangeClasses(Change change) {
  const bool before = TakesRequests();
  change();
  if (TakesRequests() == before) return;
  for (const auto& [node, pools] : node_pools_) changed_nodes_.insert(node);
}

void DeviceCatalog::Replace(std::vector<DeviceClass> classes) {
  ChangeClasses([&] {
    classes_.clear();
    for (DeviceClass& each : classes) {
      std::string name = each.name;
      classes_.insert_or_assign(std::move(name), std::move(each));
    }
  });
}

void DeviceCatalog::Put(DeviceClass device_class) {
  ChangeClasses([&] {
    std::string name = device_class.name;
    classes_.insert_or_assign(std::move(name), std::move(device_class));
  });
}

void DeviceCatalog::RemoveClass(const std::string& name) {
  ChangeClasses([&] { classes_.erase(name); });
}

bool DeviceCatalog::TakesRequests() const {
  return std::any_of(classes_.begin(), classes_.end(), [this](const auto& entry) {
    return rules_.IsGpuClass(entry.first) && entry.second.extended_resource == rules_.gpu_resource;
  });
}

bool DeviceCatalog::IsGpuOn(const AllocatedDevice& device, const std::string& node) const {
  if (device.admin_access || !rules_.IsGpuClass(device.driver)) return false;
  const auto pool = pools_.find(PoolOf(device));
  if (pool == pools_.end()) return true;
  std::optional<SliceDevice> listed;
  ForEachDevice(pool->second, [&](const SliceDevice& each) {
    if (each.name == device.device) listed = each;
  });
  // The driver may have withdrawn a device that a pod still has.
  if (!listed) return true;
  return !listed->part && (node.empty() || listed->node.empty() || listed->node == node);
}

Node DeviceCatalog::Counted(Node node) {
  if (node.gpu_kinds.by_claim) {
    const auto reported = as_reported_.find(node.name);
    node.gpu_kinds = reported == as_reported_.end() ? GpuKinds{} : reported->second;
    node.allocatable.main.gpus = Gpus(0);
  }
  if (!as_reported_.empty()) as_reported_.erase(node.name);
  const auto pools = node_pools_.find(node.name);
  if (pools == node_pools_.end() || node.allocatable.main.gpus > Gpus(0)) return node;
  std::map<std::string, const SliceDevice*> devices;
  for (const std::string& pool : pools->second) {
    ForEachDevice(pools_.at(pool), [&](const SliceDevice& device) {
      if (device.node == node.name && !device.part) devices[pool + "/" + device.name] = &device;
    });
  }
  if (devices.empty()) return node;
  as_reported_[node.name] = node.gpu_kinds;
  GpuKinds& kinds = node.gpu_kinds;
  const bool has_products = !kinds.products.empty();
  int64_t offered = 0;
  for (const auto& [key, device] : devices) {
    offered += device->tainted ? 0 : 1;
    if (has_products || device->product.empty()) continue;
    if (kinds.products.empty() || !kinds.MayHave(device->product))
      kinds.products.push_back(device->product);
  }
  kinds.by_claim = true;
  kinds.no_requests = !TakesRequests();
  kinds.installed = std::max(kinds.installed, Gpus(static_cast<int64_t>(devices.size())));
  node.allocatable.main.gpus = Gpus(offered);
  return node;
}

DeviceCatalog::Units DeviceCatalog::UnitsOf(const Pod& pod,
                                            const std::vector<std::string>& claims) const {
  Units units;
  for (const std::string& name : claims) {
    const std::string key = KeyOf(pod.pod_namespace, name);
    const auto claim = claims_.find(key);
    if (claim == claims_.end()) continue;
    if (claim->second.allocated) {
      for (const AllocatedDevice& device : claim->second.devices) {
        if (IsGpuOn(device, pod.node))
          units[fmt::format("{}{}/{}", kDevice, PoolOf(device), device.device)] = Gpus(1);
      }
    } else if (pod.node.empty()) {
      const Gpus gpus = GpusOf(claim->second.requests, rules_).gpus;
      if (gpus > Gpus(0)) units[fmt::format("{}{}", kClaim, key)] = gpus;
    }
  }
  return units;
}

std::string DeviceCatalog::WhyLeftAlone(const Pod& pod, const Units& units) const {
  for (const std::string& name : pod.devices->claims) {
    const auto claim = claims_.find(KeyOf(pod.pod_namespace, name));
    if (claim == claims_.end()) {
      return name.empty() ? std::string("one of its ResourceClaims does not exist yet")
                          : fmt::format("its ResourceClaim {} is not known", name);
    }
    if (GpusOf(claim->second.requests, rules_).open) {
      return fmt::format(
          "its ResourceClaim {} requests no exact number of devices (allocationMode All, or "
          "firstAvailable)",
          name);
    }
  }
  for (const auto& [key, gpus] : units) {
    const auto unit = units_.find(key);
    if (unit == units_.end()) continue;
    const std::set<Place>& users = unit->second;
    if (users.size() > 1 || users.begin()->second != pod.uid)
      return "it shares a ResourceClaim with other pods";
  }
  return {};
}

DeviceCatalog::Units DeviceCatalog::UnitsOfFirst(const Pod& pod, Units units, Rivals rivals) const {
  const Place user{pod.node.empty(), pod.uid};
  std::erase_if(units, [&](const auto& unit) {
    const auto users = units_.find(unit.first);
    if (users == units_.end()) return false;
    const Place& first = *users->second.begin();
    const bool is_placed = !first.first;
    return first < user && (is_placed || rivals == Rivals::kAll);
  });
  return units;
}

Pod DeviceCatalog::WithUnits(Pod pod, const Units& units, std::string why) const {
  Gpus gpus;
  for (const auto& [key, amount] : units) gpus = std::min(gpus + amount, kMostClaimedGpus);
  PodDevices devices = *pod.devices;
  devices.gpus = gpus;
  devices.known =
      std::all_of(devices.claims.begin(), devices.claims.end(), [&](const std::string& name) {
        return !name.empty() && claims_.contains(KeyOf(pod.pod_namespace, name));
      });
  devices.why_left_alone = std::move(why);
  pod.requests.main.gpus += devices.gpus;
  if (pod.demand) pod.demand->gpus = pod.requests.main.gpus;
  const bool has_gpus = pod.UsesGpus() || pod.SharesGpus();
  if (pod.fungible && (!has_gpus || !devices.why_left_alone.empty())) {
    pod.requests.main -= pod.fungible->AnnouncedGrowth();
    pod.fungible = nullptr;
    pod.demand.reset();
  } else if (pod.fungible) {
    auto sized = std::make_shared<ManagedContainer>(*pod.fungible);
    SetGpus(*sized, sized->requested.gpus + devices.gpus);
    pod.fungible = std::move(sized);
  }
  pod.devices = std::make_shared<const PodDevices>(std::move(devices));
  return pod;
}

Pod DeviceCatalog::Counted(Pod pod) const {
  if (!pod.devices) return pod;
  const Units units = UnitsOf(pod, pod.devices->claims);
  std::string why = WhyLeftAlone(pod, units);
  const Units own = UnitsOfFirst(pod, units, pod.IsOfGang() ? Rivals::kAll : Rivals::kPlaced);
  return WithUnits(std::move(pod), own, std::move(why));
}

std::vector<std::string> DeviceCatalog::ClaimsToCount(const Pod& pod) const {
  const size_t most = pod.node.empty() ? kMostUsers : 2 * kMostUsers;
  std::vector<std::string> claims = pod.devices->claims;
  std::erase_if(claims, [&](const std::string& claim) {
    const auto users = named_by_.find(KeyOf(pod.pod_namespace, claim));
    return users != named_by_.end() && users->second.size() >= most &&
           !users->second.contains(pod.uid);
  });
  return claims;
}

Pod DeviceCatalog::Observe(Pod pod) {
  if (!pod.devices) {
    if (!users_.empty()) ForgetPod(pod.uid);
    return pod;
  }
  const auto known = users_.find(pod.uid);
  if (known != users_.end() && known->second.reported->devices->claims != pod.devices->claims)
    ForgetPod(pod.uid);
  const std::vector<std::string> claims = ClaimsToCount(pod);
  User& user = users_[pod.uid];
  const Place place{pod.node.empty(), pod.uid};
  const bool moved = user.reported && user.reported->node.empty() != pod.node.empty();
  const std::set<std::string> before = std::move(user.units);
  const Units units = UnitsOf(pod, claims);
  user = {std::make_shared<const Pod>(pod), {}};
  for (const auto& [unit, gpus] : units) user.units.insert(unit);
  // Touch only changed units, because a touch marks their other users as changed.
  for (const std::string& unit : before) {
    if (moved || !units.contains(unit)) StopUsing(unit, {place.first != moved, pod.uid});
  }
  for (const std::string& unit : user.units) {
    if (moved || !before.contains(unit)) Use(unit, place);
  }
  for (const std::string& name : claims) {
    if (!name.empty()) named_by_[KeyOf(pod.pod_namespace, name)].insert(pod.uid);
  }
  changed_pods_.erase(pod.uid);
  std::string why = claims.size() < pod.devices->claims.size()
                        ? fmt::format("more than {} pods use one of its ResourceClaims", kMostUsers)
                        : WhyLeftAlone(pod, units);
  const Units own = UnitsOfFirst(pod, units, Rivals::kAll);
  return WithUnits(std::move(pod), own, std::move(why));
}

void DeviceCatalog::ForgetPod(const std::string& uid) {
  const auto user = users_.find(uid);
  if (user == users_.end()) return;
  const Pod& pod = *user->second.reported;
  for (const std::string& unit : user->second.units) StopUsing(unit, {pod.node.empty(), uid});
  for (const std::string& name : pod.devices->claims) {
    const auto claim = named_by_.find(KeyOf(pod.pod_namespace, name));
    if (claim == named_by_.end()) continue;
    claim->second.erase(uid);
    if (claim->second.empty()) named_by_.erase(claim);
  }
  users_.erase(user);
  changed_pods_.erase(uid);
}

void DeviceCatalog::Use(const std::string& unit, const Place& user) {
  std::set<Place>& users = units_[unit];
  // The first user may no longer be the first, or no longer the only one.
  if (!users.empty()) changed_pods_.insert(users.begin()->second);
  users.insert(user);
}

void DeviceCatalog::StopUsing(const std::string& unit, const Place& user) {
  const auto users = units_.find(unit);
  if (users == units_.end()) return;
  users->second.erase(user);
  if (users->second.empty()) {
    units_.erase(users);
  } else {
    changed_pods_.insert(users->second.begin()->second);
  }
}

void DeviceCatalog::MarkUsers(const std::string& claim) {
  const auto users = named_by_.find(claim);
  if (users != named_by_.end()) changed_pods_.insert(users->second.begin(), users->second.end());
}

std::vector<Pod> DeviceCatalog::TakePods() {
  std::vector<Pod> pods;
  for (const std::string& uid : std::exchange(changed_pods_, {})) {
    const auto user = users_.find(uid);
    if (user != users_.end()) pods.push_back(*user->second.reported);
  }
  return pods;
}

}  // namespace synergy
