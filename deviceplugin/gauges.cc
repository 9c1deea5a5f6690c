#include "deviceplugin/gauges.h"

#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace synergy::deviceplugin {
namespace {

void AddGpus(const Picture& picture, const std::map<std::string, DeviceUse>& uses,
             metrics::DeviceGauges& gauges) {
  for (size_t i = 0; i < picture.inventory.gpus().size(); ++i) {
    const Gpu& gpu = picture.inventory.gpus()[i];
    metrics::GpuGauge& out = gauges.gpus.emplace_back();
    out.uuid = gpu.uuid;
    out.product = gpu.product;
    out.pci_id = gpu.pci_id;
    out.healthy = picture.health[i].healthy;
    out.memory = gpu.memory;
    const auto use = uses.find(gpu.uuid);
    if (use == uses.end()) continue;
    out.utilization = use->second.utilization;
    out.memory_used = use->second.memory_used;
    out.temperature = use->second.temperature;
    out.power = use->second.power;
  }
}

void AddDevices(const Picture& picture, metrics::DeviceGauges& gauges) {
  std::map<std::tuple<std::string, std::string, bool>, uint64_t> counts;
  for (const auto& [resource, devices] : picture.advertisement.resources) {
    for (const GpuDevice& device : devices) {
      const std::string& product = picture.inventory.gpus()[device.gpu].product;
      // Count both, so that a count that falls to zero is reported as zero instead of missing.
      counts[{resource, product, true}] += device.health.healthy ? 1 : 0;
      counts[{resource, product, false}] += device.health.healthy ? 0 : 1;
    }
  }
  for (const auto& [key, count] : counts)
    gauges.devices.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), count});
}

// A device that can be allocated: its GPU's position, and whether it is only a part of that GPU.
struct DevicePlace {
  size_t gpu = 0;
  bool is_part = false;
};
std::map<std::string, DevicePlace> PlacesOf(const GpuInventory& inventory) {
  std::map<std::string, DevicePlace> places;
  for (size_t i = 0; i < inventory.gpus().size(); ++i) {
    places[inventory.gpus()[i].uuid] = {i, false};
    for (const MigDevice& part : inventory.gpus()[i].mig_devices) places[part.uuid] = {i, true};
  }
  return places;
}

std::vector<metrics::AllocatedGpu> ToAllocated(std::vector<DeviceOwner> owners,
                                               const std::map<std::string, bool>& registered,
                                               const GpuInventory& inventory,
                                               const std::map<std::string, DeviceUse>& uses) {
  std::vector<metrics::AllocatedGpu> allocated;
  const std::map<std::string, DevicePlace> places = PlacesOf(inventory);
  std::set<std::tuple<std::string, std::string, std::string, std::string>> seen;
  for (DeviceOwner& owner : owners) {
    if (!registered.contains(owner.resource)) continue;
    // The use of a shared GPU belongs to all its containers together, so it is attributed to none.
    const bool is_slice = WithoutSlice(owner.device) != owner.device;
    if (is_slice) {
      owner.device = WithoutSlice(owner.device);
      if (!seen.emplace(owner.device, owner.pod_namespace, owner.pod, owner.container).second)
        continue;
    }
    metrics::AllocatedGpu& out = allocated.emplace_back();
    if (const auto use = uses.find(owner.device); use != uses.end() && !is_slice) {
      out.utilization = use->second.utilization;
      out.memory_used = use->second.memory_used;
    }
    const auto place = places.find(owner.device);
    const bool is_part = place != places.end() && place->second.is_part;
    out.uuid = is_part ? inventory.gpus()[place->second.gpu].uuid : owner.device;
    if (is_part) out.mig_uuid = std::move(owner.device);
    out.resource = std::move(owner.resource);
    out.pod_namespace = std::move(owner.pod_namespace);
    out.pod = std::move(owner.pod);
    out.container = std::move(owner.container);
  }
  return allocated;
}

}  // namespace

metrics::DeviceGauges ReadGauges(InventoryMonitor& monitor,
                                 const std::map<std::string, bool>& registered,
                                 kubelet::PodResources& pod_resources, bool ready) {
  metrics::DeviceGauges gauges;
  gauges.ready = ready;
  gauges.source_ok = monitor.source_error().empty();
  for (const auto& [resource, is_registered] : registered)
    gauges.resources.push_back({resource, is_registered});
  const std::shared_ptr<const Picture> picture = monitor.picture();
  std::map<std::string, DeviceUse> uses;
  if (picture) {
    gauges.left_out = picture->advertisement.left_out.size();
    gauges.unreachable = picture->unreachable.size();
    gauges.without_events = picture->without_events.size();
    uses = monitor.ReadUse();
    AddGpus(*picture, uses, gauges);
    AddDevices(*picture, gauges);
  }
  if (Result<std::vector<DeviceOwner>> owners = pod_resources.List()) {
    gauges.allocated = ToAllocated(*std::move(owners), registered,
                                   picture ? picture->inventory : GpuInventory(), uses);
  }
  return gauges;
}

}  // namespace synergy::deviceplugin
