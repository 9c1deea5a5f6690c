#include "metrics/device_metrics.h"

#include <utility>

#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/metric_family.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include "core/version.h"
#include "metrics/gpu_families.h"

namespace synergy::metrics {
namespace {

using prometheus::MetricFamily;

// From the duration of our own work to the kubelet's timeout.
const prometheus::Histogram::BucketBoundaries kKubeletCallBuckets = {
    0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.01, 0.1, 1};

void AddDevices(const std::string& node, const DeviceGauges& gauges,
                std::vector<MetricFamily>& out) {
  {
    GaugeFamily devices(out, "synergy_device_plugin_devices",
                        "Devices advertised to the kubelet, by product and health.");
    for (const auto& entry : gauges.devices) {
      devices.Add(OfNode(node, {{"resource", entry.resource},
                                {"product", entry.product},
                                {"health", entry.healthy ? "healthy" : "unhealthy"}}),
                  static_cast<double>(entry.count));
    }
  }
  {
    GaugeFamily registered(out, "synergy_device_plugin_registered",
                           "Whether the kubelet knows the resource and listens to its devices.");
    for (const auto& entry : gauges.resources)
      registered.Add({{"resource", entry.resource}}, entry.registered ? 1 : 0);
  }
  GaugeFamily(out, "synergy_device_plugin_pod_resources_up",
              "Whether the kubelet says which pods have which devices.")
      .Add({}, gauges.allocated ? 1 : 0);
}

void AddProgram(const std::string& node, const DeviceGauges& gauges,
                std::vector<MetricFamily>& out) {
  GaugeFamily(out, "synergy_device_plugin_gpus_left_out",
              "GPUs in MIG mode that are not advertised.")
      .Add(OfNode(node), static_cast<double>(gauges.left_out));
  GaugeFamily(out, "synergy_device_plugin_gpus_unreachable",
              "GPUs that the driver counts and that cannot be asked who they are.")
      .Add(OfNode(node), static_cast<double>(gauges.unreachable));
  GaugeFamily(out, "synergy_device_plugin_gpus_without_xids",
              "GPUs whose Xids the driver does not report.")
      .Add(OfNode(node), static_cast<double>(gauges.without_events));
  GaugeFamily(out, "synergy_device_plugin_stopped",
              "Whether it offers nothing, because another component of the node offers the GPUs.")
      .Add(OfNode(node), gauges.stopped ? 1 : 0);
  GaugeFamily(out, "synergy_device_plugin_source_up",
              "Whether the last look at the GPUs (NVML or the inventory file) succeeded.")
      .Add({}, gauges.source_ok ? 1 : 0);
  GaugeFamily(out, "synergy_device_plugin_ready", "Whether /readyz says yes.")
      .Add({}, gauges.ready ? 1 : 0);
}

prometheus::Family<prometheus::Counter>& Counter(prometheus::Registry& registry,
                                                 const std::string& name, const std::string& help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
}

}  // namespace

class DeviceMetrics::Impl {
 public:
  explicit Impl(std::string of_node) : node(std::move(of_node)) {
    prometheus::BuildGauge()
        .Name("synergy_build_info")
        .Help("Always 1; the labels say what is running.")
        .Register(registry)
        .Add({{"program", "synergy-device-plugin"},
              {"version", std::string(Version())},
              {"commit", std::string(Commit())}})
        .Set(1);
  }

  const std::string node;
  prometheus::Registry registry;
  prometheus::Family<prometheus::Counter>& registrations =
      Counter(registry, "synergy_device_plugin_registrations_total",
              "Registrations with the kubelet, by outcome.");
  prometheus::Family<prometheus::Counter>& allocations =
      Counter(registry, "synergy_device_plugin_allocations_total",
              "Allocate calls, by outcome; each is for one container.");
  prometheus::Family<prometheus::Counter>& preferred =
      Counter(registry, "synergy_device_plugin_preferred_allocations_total",
              "GetPreferredAllocation calls, by outcome.");
  prometheus::Family<prometheus::Counter>& lists =
      Counter(registry, "synergy_device_plugin_lists_sent_total",
              "Lists of devices sent to the kubelet: one for each stream and change.");
  prometheus::Family<prometheus::Counter>& xids =
      Counter(registry, "synergy_gpu_xid_errors_total", "Xid events, ignored ones too.");
  prometheus::Counter& source_errors =
      Counter(registry, "synergy_device_plugin_source_errors_total",
              "Looks at the GPUs that failed.")
          .Add({});
  prometheus::Family<prometheus::Counter>& node_patches =
      Counter(registry, "synergy_device_plugin_node_patches_total",
              "Patches of the Node's labels and inventory annotation, by outcome.");
  prometheus::Family<prometheus::Histogram>& allocate_duration =
      prometheus::BuildHistogram()
          .Name("synergy_device_plugin_allocate_duration_seconds")
          .Help("Time from an Allocate call to its answer.")
          .Register(registry);
  prometheus::Family<prometheus::Histogram>& preferred_duration =
      prometheus::BuildHistogram()
          .Name("synergy_device_plugin_preferred_allocation_duration_seconds")
          .Help("Time from a GetPreferredAllocation call to its answer.")
          .Register(registry);
  std::function<DeviceGauges()> read_gauges;
};

DeviceMetrics::DeviceMetrics(const std::string& node) : impl_(std::make_unique<Impl>(node)) {}
DeviceMetrics::~DeviceMetrics() = default;

void DeviceMetrics::CountRegistration(const std::string& resource, std::string_view outcome) {
  impl_->registrations.Add({{"resource", resource}, {"outcome", std::string(outcome)}}).Increment();
}

void DeviceMetrics::CountAllocate(const std::string& resource, std::string_view outcome,
                                  Duration duration) {
  impl_->allocations.Add({{"resource", resource}, {"outcome", std::string(outcome)}}).Increment();
  impl_->allocate_duration.Add({{"resource", resource}}, kKubeletCallBuckets)
      .Observe(std::chrono::duration<double>(duration).count());
}

void DeviceMetrics::CountPreferred(const std::string& resource, std::string_view outcome,
                                   Duration duration) {
  impl_->preferred.Add({{"resource", resource}, {"outcome", std::string(outcome)}}).Increment();
  impl_->preferred_duration.Add({{"resource", resource}}, kKubeletCallBuckets)
      .Observe(std::chrono::duration<double>(duration).count());
}

void DeviceMetrics::CountListSent(const std::string& resource) {
  impl_->lists.Add({{"resource", resource}}).Increment();
}

void DeviceMetrics::CountXid(const std::string& uuid, uint64_t xid) {
  prometheus::Labels labels{{"uuid", uuid}, {"xid", std::to_string(xid)}};
  if (!impl_->node.empty()) labels["node"] = impl_->node;
  impl_->xids.Add(labels).Increment();
}

void DeviceMetrics::CountSourceError() { impl_->source_errors.Increment(); }

void DeviceMetrics::CountNodePatch(std::string_view outcome) {
  impl_->node_patches.Add({{"outcome", std::string(outcome)}}).Increment();
}

void DeviceMetrics::SetGauges(std::function<DeviceGauges()> read) {
  impl_->read_gauges = std::move(read);
}

std::string DeviceMetrics::Render() const {
  std::vector<MetricFamily> families = impl_->registry.Collect();
  if (impl_->read_gauges) {
    const DeviceGauges gauges = impl_->read_gauges();
    AddGpuFamilies(
        {impl_->node, gauges.gpus, gauges.allocated.value_or(std::vector<AllocatedGpu>())},
        families);
    AddDevices(impl_->node, gauges, families);
    AddProgram(impl_->node, gauges, families);
  }
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace synergy::metrics
