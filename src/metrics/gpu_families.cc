#include "metrics/gpu_families.h"

namespace synergy::metrics {
namespace {

using prometheus::MetricFamily;

void AddGpus(const std::string& node, const std::vector<GpuGauge>& gpus,
             std::vector<MetricFamily>& out) {
  GaugeFamily info(out, "synergy_gpu_info", "Always 1; the labels say what the GPU is.");
  GaugeFamily healthy(out, "synergy_gpu_healthy", "Whether the GPU may be given out.");
  GaugeFamily memory(out, "synergy_gpu_memory_bytes", "The GPU's memory.");
  GaugeFamily used(out, "synergy_gpu_memory_used_bytes", "The GPU's memory that is in use.");
  GaugeFamily utilization(out, "synergy_gpu_utilization_ratio",
                          "Share of the last moments in which a kernel ran.");
  GaugeFamily temperature(out, "synergy_gpu_temperature_celsius", "The GPU's temperature.");
  GaugeFamily power(out, "synergy_gpu_power_watts", "What the GPU draws.");
  GaugeFamily xid(out, "synergy_gpu_last_xid", "The last Xid of the GPU, by an exporter; 0: none.");
  for (const GpuGauge& gpu : gpus) {
    const LabelPairs uuid = OfNode(node, {{"uuid", gpu.uuid}});
    info.Add(OfNode(node, {{"uuid", gpu.uuid}, {"product", gpu.product}, {"pci", gpu.pci_id}}), 1);
    if (gpu.healthy) healthy.Add(uuid, *gpu.healthy ? 1 : 0);
    if (gpu.memory) memory.Add(uuid, static_cast<double>(gpu.memory->count()));
    if (gpu.memory_used) used.Add(uuid, static_cast<double>(gpu.memory_used->count()));
    utilization.AddIfKnown(uuid, gpu.utilization);
    temperature.AddIfKnown(uuid, gpu.temperature);
    power.AddIfKnown(uuid, gpu.power);
    if (gpu.last_xid) xid.Add(uuid, static_cast<double>(*gpu.last_xid));
  }
}

void AddAllocated(const std::string& node, const std::vector<AllocatedGpu>& allocated,
                  std::vector<MetricFamily>& out) {
  GaugeFamily given(out, "synergy_gpu_allocated",
                    "Always 1: the GPU, or a MIG device of it, is given to the pod's container.");
  GaugeFamily utilization(
      out, "synergy_pod_gpu_utilization_ratio",
      "Share of the last moments in which a kernel ran, of the containers' GPUs.");
  GaugeFamily used(out, "synergy_pod_gpu_memory_used_bytes",
                   "Memory that is in use, of the containers' GPUs.");
  for (const AllocatedGpu& entry : allocated) {
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

}  // namespace

LabelPairs OfNode(const std::string& node, LabelPairs labels) {
  if (!node.empty()) labels.insert(labels.begin(), {"node", node});
  return labels;
}

void AddGpuFamilies(const GpuGauges& gauges, std::vector<MetricFamily>& out) {
  AddGpus(gauges.node, gauges.gpus, out);
  AddAllocated(gauges.node, gauges.allocated, out);
}

}  // namespace synergy::metrics
