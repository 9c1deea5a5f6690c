#include "metrics/device_metrics.h"

#include <utility>

#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/metric_family.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include "core/version.h"

namespace synergy::metrics {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

using LabelPairs = std::vector<std::pair<std::string, std::string>>;

// From the duration of our own work to the kubelet's timeout.
const prometheus::Histogram::BucketBoundaries kKubeletCallBuckets = {
    0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.01, 0.1, 1};

class GaugeFamily {
 public:
  GaugeFamily(std::vector<MetricFamily>& out, std::string name, std::string help) : out_(out) {
    family_.name = std::move(name);
    family_.help = std::move(help);
    family_.type = MetricType::Gauge;
  }
  ~GaugeFamily() { out_.push_back(std::move(family_)); }
  GaugeFamily(const GaugeFamily&) = delete;
  GaugeFamily& operator=(const GaugeFamily&) = delete;

  void Add(const LabelPairs& labels, double value) {
    ClientMetric metric;
    for (const auto& [name, label] : labels) {
      ClientMetric::Label pair;
      pair.name = name;
      pair.value = label;
      metric.label.push_back(std::move(pair));
    }
    metric.gauge.value = value;
    family_.metric.push_back(std::move(metric));
  }
  void AddIfKnown(const LabelPairs& labels, std::optional<double> value) {
    if (value) Add(labels, *value);
  }

 private:
  std::vector<MetricFamily>& out_;
  MetricFamily family_;
};

// Adds the node to the labels of its GPUs' metrics: a scrape's own labels name the plugin's pod.
LabelPairs OfNode(const std::string& node, LabelPairs labels = {}) {
  if (!node.empty()) labels.insert(labels.begin(), {"node", node});
  return labels;
}

void AddGpus(const std::string& node, const DeviceGauges& gauges, std::vector<MetricFamily>& out) {
  GaugeFamily info(out, "synergy_gpu_info", "Always 1; the labels describe the GPU.");
  GaugeFamily healthy(out, "synergy_gpu_healthy", "Whether the GPU may be allocated.");
  GaugeFamily memory(out, "synergy_gpu_memory_bytes", "The GPU's memory.");
  GaugeFamily used(out, "synergy_gpu_memory_used_bytes", "The GPU's memory in use.");
  GaugeFamily utilization(out, "synergy_gpu_utilization_ratio",
                          "Fraction of the last sample period in which a kernel ran.");
  GaugeFamily temperature(out, "synergy_gpu_temperature_celsius", "The GPU's temperature.");
  GaugeFamily power(out, "synergy_gpu_power_watts", "The GPU's power draw.");
  for (const DeviceGauges::Gpu& gpu : gauges.gpus) {
    const LabelPairs uuid = OfNode(node, {{"uuid", gpu.uuid}});
    info.Add(OfNode(node, {{"uuid", gpu.uuid}, {"product", gpu.product}, {"pci", gpu.pci_id}}), 1);
    healthy.Add(uuid, gpu.healthy ? 1 : 0);
    memory.Add(uuid, static_cast<double>(gpu.memory.count()));
    if (gpu.memory_used) used.Add(uuid, static_cast<double>(gpu.memory_used->count()));
    utilization.AddIfKnown(uuid, gpu.utilization);
    temperature.AddIfKnown(uuid, gpu.temperature);
    power.AddIfKnown(uuid, gpu.power);
  }
}

void AddAllocated(const std::string& node, const std::vector<DeviceGauges::Allocated>& allocated,
                  std::vector<MetricFamily>& out) {
  GaugeFamily given(
      out, "synergy_gpu_allocated",
      "Always 1: the GPU, or a MIG device of it, is allocated to the pod's container.");
  GaugeFamily utilization(
      out, "synergy_pod_gpu_utilization_ratio",
      "Fraction of the last sample period in which a kernel ran, over the containers' GPUs.");
  GaugeFamily used(out, "synergy_pod_gpu_memory_used_bytes",
                   "Memory in use, over the containers' GPUs.");
  for (const DeviceGauges::Allocated& entry : allocated) {
    LabelPairs labels = OfNode(node, {{"uuid", entry.uuid}});
    if (!entry.mig_uuid.empty()) labels.emplace_back("mig_uuid", entry.mig_uuid);
    labels.emplace_back("namespace", entry.pod_namespace);
    labels.emplace_back("pod", entry.pod);
    labels.emplace_back("container", entry.container);
    utilization.AddIfKnown(labels, entry.utilization);
    if (entry.memory_used) used.Add(labels, static_cast<double>(entry.memory_used->count()));
    labels.emplace_back("resource", entry.resource);
    given.Add(labels, 1);
  }
}

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
    GaugeFamily registered(
        out, "synergy_device_plugin_registered",
        "Whether the kubelet has the resource registered and watches its devices.");
    for (const auto& entry : gauges.resources)
      registered.Add({{"resource", entry.resource}}, entry.registered ? 1 : 0);
  }
  GaugeFamily(out, "synergy_device_plugin_pod_resources_up",
              "Whether the kubelet reports the pods' devices.")
      .Add({}, gauges.allocated ? 1 : 0);
  AddAllocated(node, gauges.allocated.value_or(std::vector<DeviceGauges::Allocated>()), out);
}

void AddProgram(const std::string& node, const DeviceGauges& gauges,
                std::vector<MetricFamily>& out) {
  GaugeFamily(out, "synergy_device_plugin_gpus_left_out",
              "GPUs in MIG mode that are not advertised.")
      .Add(OfNode(node), static_cast<double>(gauges.left_out));
  GaugeFamily(out, "synergy_device_plugin_gpus_unreachable",
              "GPUs that the driver counts but cannot identify.")
      .Add(OfNode(node), static_cast<double>(gauges.unreachable));
  GaugeFamily(out, "synergy_device_plugin_gpus_without_xids",
              "GPUs whose Xids the driver does not report.")
      .Add(OfNode(node), static_cast<double>(gauges.without_events));
  GaugeFamily(out, "synergy_device_plugin_source_up",
              "Whether the last reading of the GPUs (NVML or the inventory file) succeeded.")
      .Add({}, gauges.source_ok ? 1 : 0);
  GaugeFamily(out, "synergy_device_plugin_ready", "Whether the program is ready (/readyz).")
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
        .Help("Always 1; the labels describe the running program.")
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
              "Device lists sent to the kubelet: one for each stream and change.");
  prometheus::Family<prometheus::Counter>& xids =
      Counter(registry, "synergy_gpu_xid_errors_total", "Xid events, including ignored ones.");
  prometheus::Counter& source_errors =
      Counter(registry, "synergy_device_plugin_source_errors_total", "Failed readings of the GPUs.")
          .Add({});
  prometheus::Family<prometheus::Counter>& node_patches =
      Counter(registry, "synergy_device_plugin_node_patches_total",
              "Patches of the Node's labels and inventory annotation, by outcome.");
  prometheus::Family<prometheus::Histogram>& allocate_duration =
      prometheus::BuildHistogram()
          .Name("synergy_device_plugin_allocate_duration_seconds")
          .Help("Duration from an Allocate call to its answer.")
          .Register(registry);
  prometheus::Family<prometheus::Histogram>& preferred_duration =
      prometheus::BuildHistogram()
          .Name("synergy_device_plugin_preferred_allocation_duration_seconds")
          .Help("Duration from a GetPreferredAllocation call to its answer.")
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
    AddGpus(impl_->node, gauges, families);
    AddDevices(impl_->node, gauges, families);
    AddProgram(impl_->node, gauges, families);
  }
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace synergy::metrics
