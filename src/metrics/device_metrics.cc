#include "metrics/device_metrics.h"

#include <utility>

#include "metrics/families.h"
#include "metrics/gpu_families.h"

namespace synergy::metrics {
namespace {

// From the duration of the plugin's own work up to that of the kubelet's timeout.
const prometheus::Histogram::BucketBoundaries kKubeletCallBuckets = {
    0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.01, 0.1, 1};

void AddDevices(const std::string& node, const DeviceGauges& gauges, Families& out) {
  {
    ScrapedFamily devices(out, "synergy_device_plugin_devices",
                          "Devices advertised to the kubelet, by product and health.");
    for (const auto& entry : gauges.devices) {
      devices.Add(OfNode(node, {{"resource", entry.resource},
                                {"product", entry.product},
                                {"health", entry.healthy ? "healthy" : "unhealthy"}}),
                  entry.count);
    }
  }
  {
    ScrapedFamily registered(
        out, "synergy_device_plugin_registered",
        "Whether the resource is registered with the kubelet, which watches its devices.");
    for (const auto& entry : gauges.resources)
      registered.Add({{"resource", entry.resource}}, entry.registered);
  }
  AddGauge(out, "synergy_device_plugin_pod_resources_up",
           "Whether the kubelet reports the pods' devices.", gauges.allocated.has_value());
}

void AddProgram(const std::string& node, const DeviceGauges& gauges, Families& out) {
  AddGauge(out, "synergy_device_plugin_gpus_left_out", "GPUs in MIG mode that are not advertised.",
           gauges.left_out, OfNode(node));
  AddGauge(out, "synergy_device_plugin_gpus_unreachable",
           "GPUs that the driver counts but cannot identify.", gauges.unreachable, OfNode(node));
  AddGauge(out, "synergy_device_plugin_gpus_without_xids",
           "GPUs whose Xids the driver does not report.", gauges.without_events, OfNode(node));
  AddGauge(out, "synergy_device_plugin_stopped",
           "Whether the plugin offers nothing because another component of the node offers the "
           "GPUs.",
           gauges.stopped, OfNode(node));
  AddGauge(out, "synergy_device_plugin_source_up",
           "Whether the last reading of the GPUs (NVML or the inventory file) succeeded.",
           gauges.source_ok);
  AddGauge(out, "synergy_device_plugin_ready", "Whether the program is ready (/readyz).",
           gauges.ready);
}

}  // namespace

class DeviceMetrics::Impl {
 public:
  explicit Impl(std::string of_node) : node(std::move(of_node)) {
    RegisterBuildInfo("synergy-device-plugin", registry);
  }

  const std::string node;
  prometheus::Registry registry;
  Counters& registrations = MakeCounters(registry, "synergy_device_plugin_registrations_total",
                                         "Registrations with the kubelet, by outcome.");
  Counters& allocations = MakeCounters(registry, "synergy_device_plugin_allocations_total",
                                       "Allocate calls, by outcome; each is for one container.");
  Counters& preferred = MakeCounters(registry, "synergy_device_plugin_preferred_allocations_total",
                                     "GetPreferredAllocation calls, by outcome.");
  Counters& lists =
      MakeCounters(registry, "synergy_device_plugin_lists_sent_total",
                   "Device lists sent to the kubelet: one for each stream and change.");
  Counters& xids =
      MakeCounters(registry, "synergy_gpu_xid_errors_total", "Xid events, including ignored ones.");
  prometheus::Counter& source_errors =
      MakeCounters(registry, "synergy_device_plugin_source_errors_total",
                   "Failed readings of the GPUs.")
          .Add({});
  Counters& node_patches =
      MakeCounters(registry, "synergy_device_plugin_node_patches_total",
                   "Patches of the Node's labels and inventory annotation, by outcome.");
  Histograms& allocate_duration =
      MakeHistograms(registry, "synergy_device_plugin_allocate_duration_seconds",
                     "Duration from an Allocate call to its answer.");
  Histograms& preferred_duration =
      MakeHistograms(registry, "synergy_device_plugin_preferred_allocation_duration_seconds",
                     "Duration from a GetPreferredAllocation call to its answer.");
  std::function<DeviceGauges()> read_gauges;
};

namespace {

void CountCall(Counters& calls, Histograms& durations, const std::string& resource,
               std::string_view outcome, Duration duration) {
  calls.Add({{"resource", resource}, {"outcome", std::string(outcome)}}).Increment();
  durations.Add({{"resource", resource}}, kKubeletCallBuckets).Observe(ToSeconds(duration));
}

}  // namespace

DeviceMetrics::DeviceMetrics(const std::string& node) : impl_(std::make_unique<Impl>(node)) {}
DeviceMetrics::~DeviceMetrics() = default;

void DeviceMetrics::CountRegistration(const std::string& resource, std::string_view outcome) {
  impl_->registrations.Add({{"resource", resource}, {"outcome", std::string(outcome)}}).Increment();
}

void DeviceMetrics::CountAllocate(const std::string& resource, std::string_view outcome,
                                  Duration duration) {
  CountCall(impl_->allocations, impl_->allocate_duration, resource, outcome, duration);
}

void DeviceMetrics::CountPreferred(const std::string& resource, std::string_view outcome,
                                   Duration duration) {
  CountCall(impl_->preferred, impl_->preferred_duration, resource, outcome, duration);
}

void DeviceMetrics::CountListSent(const std::string& resource) {
  impl_->lists.Add({{"resource", resource}}).Increment();
}

void DeviceMetrics::CountXid(const std::string& uuid, uint64_t xid) {
  const LabelPairs labels = OfNode(impl_->node, {{"uuid", uuid}, {"xid", std::to_string(xid)}});
  impl_->xids.Add({labels.begin(), labels.end()}).Increment();
}

void DeviceMetrics::CountSourceError() { impl_->source_errors.Increment(); }

void DeviceMetrics::CountNodePatch(std::string_view outcome) {
  Count(impl_->node_patches, "outcome", outcome);
}

void DeviceMetrics::SetGauges(std::function<DeviceGauges()> read) {
  impl_->read_gauges = std::move(read);
}

std::string DeviceMetrics::Render() const {
  Families scraped;
  if (impl_->read_gauges) {
    const DeviceGauges gauges = impl_->read_gauges();
    AddGpuFamilies(
        {impl_->node, gauges.gpus, gauges.allocated.value_or(std::vector<AllocatedGpu>())},
        scraped);
    AddDevices(impl_->node, gauges, scraped);
    AddProgram(impl_->node, gauges, scraped);
  }
  return RenderText(impl_->registry, std::move(scraped));
}

}  // namespace synergy::metrics
