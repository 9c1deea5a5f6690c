#include "deviceplugin/gauges.h"

#include <tuple>
#include <utility>

namespace synergy::deviceplugin {
namespace {

void AddGpus(const Picture& picture, const std::map<std::string, DeviceUse>& uses,
             metrics::DeviceGauges& gauges) {
  for (size_t i = 0; i < picture.inventory.gpus().size(); ++i) {
    const Gpu& gpu = picture.inventory.gpus()[i];
    metrics::DeviceGauges::Gpu& out = gauges.gpus.emplace_back();
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
      // Both, so that a count that fell to nothing is a zero and not a gap.
      counts[{resource, product, true}] += device.health.healthy ? 1 : 0;
      counts[{resource, product, false}] += device.health.healthy ? 0 : 1;
    }
  }
  for (const auto& [key, count] : counts)
    gauges.devices.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), count});
}

}  // namespace

metrics::DeviceGauges ReadGauges(InventoryMonitor& monitor,
                                 const std::map<std::string, bool>& registered,
                                 PodResources& pod_resources, bool ready) {
  metrics::DeviceGauges gauges;
  gauges.ready = ready;
  gauges.source_ok = monitor.source_error().empty();
  for (const auto& [resource, is_registered] : registered)
    gauges.resources.push_back({resource, is_registered});
  if (const std::shared_ptr<const Picture> picture = monitor.picture()) {
    gauges.left_out = picture->advertisement.left_out.size();
    AddGpus(*picture, monitor.ReadUse(), gauges);
    AddDevices(*picture, gauges);
  }
  if (Result<std::vector<DeviceOwner>> owners = pod_resources.List()) {
    gauges.allocated.emplace();
    for (DeviceOwner& owner : *owners) {
      if (!registered.contains(owner.resource)) continue;
      gauges.allocated->push_back({std::move(owner.resource), std::move(owner.device),
                                   std::move(owner.pod_namespace), std::move(owner.pod),
                                   std::move(owner.container)});
    }
  }
  return gauges;
}

}  // namespace synergy::deviceplugin
