#include "inventory/advertisement.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>

#include "inventory/kubelet_device.h"

namespace synergy {
namespace {

constexpr MigStrategy kMigStrategies[] = {MigStrategy::kNone, MigStrategy::kSingle,
                                          MigStrategy::kMixed};

const std::string& ResourceOf(const AdvertisementRules& rules, const std::string& product) {
  for (const GpuResourceRule& rule : rules.rules)
    if (MatchesPattern(rule.product, product)) return rule.resource;
  return rules.resource;
}

// Uses the names of NVIDIA's device plugin; a resource's name must not contain "+".
std::string MigResource(const std::string& profile) {
  std::string name = "nvidia.com/mig-" + profile;
  std::replace(name.begin(), name.end(), '+', '.');
  return name;
}

// Collects the profiles of each resource's MIG devices ("" for a whole GPU): with the strategy
// "single", all devices of a resource must be alike.
std::map<std::string, std::set<std::string>> ProfilesOf(const GpuInventory& inventory,
                                                        const AdvertisementRules& rules) {
  std::map<std::string, std::set<std::string>> profiles;
  for (const Gpu& gpu : inventory.gpus()) {
    std::set<std::string>& there = profiles[ResourceOf(rules, gpu.product)];
    if (!gpu.mig_enabled) there.insert("");
    for (const MigDevice& device : gpu.mig_devices) there.insert(device.profile);
  }
  return profiles;
}

// Returns why the parts of a GPU are not advertised; empty if they are.
std::string_view WhyLeftOut(const Gpu& gpu, MigStrategy strategy,
                            const std::set<std::string>& profiles) {
  if (strategy == MigStrategy::kNone) return "in MIG mode, and the MIG strategy is none";
  if (gpu.mig_devices.empty()) return "in MIG mode without MIG devices";
  if (strategy == MigStrategy::kMixed || profiles.size() == 1) return {};
  return profiles.contains("") ? "in MIG mode beside whole GPUs, and the MIG strategy is single"
                               : "MIG devices of several profiles, and the MIG strategy is single";
}

// Replaces the devices of a resource by their slices or turns, under the name `shared`. These name
// no NUMA nodes, because the kubelet would align them one by one.
void Slice(const std::string& resource, const std::string& shared, int replicas,
           const GpuInventory& inventory, Advertisement& advertisement) {
  const auto whole = advertisement.resources.extract(resource);
  if (whole.empty()) return;
  std::vector<GpuDevice>& slices = advertisement.resources[shared];
  for (const GpuDevice& device : whole.mapped()) {
    const std::string last = fmt::format("{}{}{}", device.id, kSliceMark, replicas - 1);
    if (last.size() > kLongestDeviceId) {
      advertisement.left_out[inventory.gpus()[device.gpu].uuid] =
          fmt::format("the slice {} has a longer name than {} characters", last, kLongestDeviceId);
      continue;
    }
    for (int number = 0; number < replicas; ++number) {
      slices.push_back({fmt::format("{}{}{}", device.id, kSliceMark, number), device.gpu, kNoNuma,
                        device.health});
    }
  }
  if (!slices.empty()) advertisement.replicas[shared] = replicas;
}

}  // namespace

std::string_view ToString(MigStrategy strategy) {
  switch (strategy) {
    case MigStrategy::kNone:
      return "none";
    case MigStrategy::kSingle:
      return "single";
    case MigStrategy::kMixed:
      return "mixed";
  }
  return "unknown";
}

Result<MigStrategy> ParseMigStrategy(std::string_view text) {
  for (const MigStrategy strategy : kMigStrategies)
    if (text == ToString(strategy)) return strategy;
  return Fail(ErrorCode::kInvalid, fmt::format("\"{}\" is not one of none, single, mixed", text));
}

int ReplicasOf(const Advertisement& advertisement) {
  std::set<int> all;
  for (const auto& [resource, devices] : advertisement.resources) {
    const auto replicas = advertisement.replicas.find(resource);
    if (!devices.empty())
      all.insert(replicas == advertisement.replicas.end() ? 0 : replicas->second);
  }
  return all.size() == 1 ? *all.begin() : 0;
}

bool IsInTurns(const Advertisement& advertisement, std::string_view resource) {
  return resource.ends_with(kTurnsSuffix) && advertisement.replicas.contains(resource);
}

bool AreAllInTurns(const Advertisement& advertisement) {
  return std::all_of(advertisement.resources.begin(), advertisement.resources.end(),
                     [&](const auto& offered) {
                       return offered.second.empty() || IsInTurns(advertisement, offered.first);
                     });
}

Advertisement Advertise(const GpuInventory& inventory, const AdvertisementRules& rules,
                        const std::function<GpuHealth(std::string_view uuid)>& health,
                        const std::vector<std::string>& known) {
  Advertisement advertisement;
  // Without any GPU, advertise the default resource with no devices.
  if (rules.rules.empty()) advertisement.resources[rules.resource];
  const auto profiles = ProfilesOf(inventory, rules);
  for (size_t i = 0; i < inventory.gpus().size(); ++i) {
    const Gpu& gpu = inventory.gpus()[i];
    const GpuHealth state = health(gpu.uuid);
    const std::string& resource = ResourceOf(rules, gpu.product);
    if (!gpu.mig_enabled) {
      advertisement.resources[resource].push_back({gpu.uuid, i, gpu.numa_node, state});
      continue;
    }
    const std::string_view why = WhyLeftOut(gpu, rules.mig_strategy, profiles.at(resource));
    if (!why.empty()) {
      advertisement.left_out[gpu.uuid] = why;
      continue;
    }
    for (const MigDevice& device : gpu.mig_devices) {
      const bool mixed = rules.mig_strategy == MigStrategy::kMixed;
      advertisement.resources[mixed ? MigResource(device.profile) : resource].push_back(
          {device.uuid, i, gpu.numa_node, state.healthy ? health(device.uuid) : state});
    }
  }
  for (const auto& [resource, replicas] : rules.replicas)
    Slice(resource, SharedResource(resource), replicas, inventory, advertisement);
  for (const auto& [resource, height] : rules.turns)
    Slice(resource, TurnsResource(resource), height, inventory, advertisement);
  for (const std::string& resource : known) advertisement.resources[resource];
  return advertisement;
}

bool MatchesPattern(std::string_view pattern, std::string_view text) {
  size_t p = 0;
  size_t t = 0;
  size_t star = std::string_view::npos;
  size_t after_star = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      after_star = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      // Let the last star match one more character.
      p = star + 1;
      t = ++after_star;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

}  // namespace synergy
