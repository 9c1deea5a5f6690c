#include "nodeagent/gpus/gpu_owners.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

namespace synergy::nodeagent {
namespace {

using ContainerKey = std::tuple<std::string_view, std::string_view, std::string_view>;

ContainerKey KeyOf(const DeviceOwner& owner) {
  return {owner.pod_namespace, owner.pod, owner.container};
}

bool IsGpu(const DeviceOwner& owner, std::string_view gpu_resource) {
  return owner.resource == gpu_resource || owner.resource.starts_with("nvidia.com/");
}

// The parts of a device ID.
struct DeviceName {
  std::string_view name;      // UUID, or the driver's name
  std::string_view instance;  // of a MIG instance
  bool shared = false;
};

DeviceName ParseId(std::string_view id) {
  if (const std::string_view whole = WithoutSlice(id); whole != id) return {whole, {}, true};
  const size_t slash = id.find('/');
  if (slash == std::string_view::npos) return {id, {}, false};
  DeviceName parsed{id.substr(0, slash), {}, false};
  // A share of a MIG instance is "nvidia0/gi3/vgpu1".
  std::string_view rest = id.substr(slash + 1);
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find('/'));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    if (part.starts_with("gi")) parsed.instance = part.substr(2);
    if (part.starts_with("vgpu")) parsed.shared = true;
  }
  return parsed;
}

bool IsMigUuid(std::string_view name) { return name.starts_with("MIG-"); }

const DcgmDevice* FindDevice(const std::vector<DcgmDevice>& devices, const DeviceName& name) {
  const auto found = std::find_if(devices.begin(), devices.end(), [&](const DcgmDevice& device) {
    return device.instance == name.instance &&
           (device.uuid == name.name || device.device == name.name);
  });
  return found == devices.end() ? nullptr : &*found;
}

// Maps containers to the MIG instances that the exporter attributes to them.
std::map<ContainerKey, std::vector<const DcgmDevice*>> HintedInstances(
    const std::vector<DcgmDevice>& devices) {
  std::map<ContainerKey, std::vector<const DcgmDevice*>> hinted;
  for (const DcgmDevice& device : devices) {
    if (device.IsInstance() && !device.pod.empty())
      hinted[{device.pod_namespace, device.pod, device.container}].push_back(&device);
  }
  return hinted;
}

}  // namespace

std::vector<OwnedGpu> MatchOwners(const std::vector<DeviceOwner>& owners,
                                  const std::vector<DcgmDevice>& devices,
                                  std::string_view gpu_resource) {
  std::vector<OwnedGpu> owned;
  std::map<ContainerKey, std::vector<size_t>> by_mig_uuid;  // positions in `owned`
  std::map<const DcgmDevice*, size_t> users;
  for (const DeviceOwner& owner : owners) {
    if (!IsGpu(owner, gpu_resource)) continue;
    const DeviceName name = ParseId(owner.device);
    OwnedGpu& gpu = owned.emplace_back(OwnedGpu{&owner, nullptr, name.shared});
    if (IsMigUuid(name.name)) {
      by_mig_uuid[KeyOf(owner)].push_back(owned.size() - 1);
    } else {
      gpu.device = FindDevice(devices, name);
    }
  }
  const auto hinted = HintedInstances(devices);
  for (const auto& [container, positions] : by_mig_uuid) {
    const auto instances = hinted.find(container);
    if (instances == hinted.end() || instances->second.size() != positions.size()) continue;
    for (size_t at = 0; at < positions.size(); ++at)
      owned[positions[at]].device = instances->second[at];
  }
  for (const OwnedGpu& gpu : owned)
    if (gpu.device != nullptr) ++users[gpu.device];
  for (OwnedGpu& gpu : owned)
    if (gpu.device != nullptr && users[gpu.device] > 1) gpu.shared = true;
  return owned;
}

std::set<std::string> PodsThatShareGpus(const std::vector<DeviceOwner>& owners,
                                        std::string_view gpu_resource) {
  std::map<std::pair<std::string_view, std::string_view>, std::set<std::string>> pods;  // by device
  for (const DeviceOwner& owner : owners) {
    if (!owner.resource.starts_with(gpu_resource) && !IsGpu(owner, gpu_resource)) continue;
    const DeviceName name = ParseId(owner.device);
    pods[{name.name, name.instance}].insert(owner.pod_namespace + "/" + owner.pod);
  }
  std::set<std::string> sharers;
  for (auto& [device, its_pods] : pods) {
    if (its_pods.size() > 1) sharers.merge(its_pods);
  }
  return sharers;
}

std::vector<ContainerBusy> BusyOfContainers(const std::vector<OwnedGpu>& owned,
                                            const BusyMeter& meter) {
  std::vector<OwnedBusy> gpus;
  for (const OwnedGpu& gpu : owned) {
    const bool is_known = gpu.device != nullptr && !gpu.shared;
    gpus.push_back({gpu.owner, is_known ? meter.Of(gpu.device->Key()) : std::nullopt});
  }
  return MeansOfContainers(gpus);
}

}  // namespace synergy::nodeagent
