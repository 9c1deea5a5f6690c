#include "metrics/gpu_families.h"

#include <optional>
#include <vector>

namespace synergy::metrics {
namespace {

std::optional<int64_t> CountOf(const std::optional<Bytes>& bytes) {
  return bytes ? std::optional(bytes->count()) : std::nullopt;
}

void AddGpus(const std::string& node, const std::vector<GpuGauge>& gpus, Families& out) {
  ScrapedFamily info(out, "synergy_gpu_info", "Always 1; the labels describe the GPU.");
  ScrapedFamily healthy(out, "synergy_gpu_healthy", "Whether the GPU may be allocated.");
  ScrapedFamily memory(out, "synergy_gpu_memory_bytes", "The GPU's memory.");
  ScrapedFamily used(out, "synergy_gpu_memory_used_bytes", "The GPU's memory in use.");
  ScrapedFamily utilization(out, "synergy_gpu_utilization_ratio",
                            "Fraction of the last sample period in which a kernel ran.");
  ScrapedFamily temperature(out, "synergy_gpu_temperature_celsius", "The GPU's temperature.");
  ScrapedFamily power(out, "synergy_gpu_power_watts", "The GPU's power draw.");
  ScrapedFamily xid(out, "synergy_gpu_last_xid",
                    "The GPU's last Xid, by a DCGM exporter; 0: none.");
  for (const GpuGauge& gpu : gpus) {
    const LabelPairs uuid = OfNode(node, {{"uuid", gpu.uuid}});
    info.Add(OfNode(node, {{"uuid", gpu.uuid}, {"product", gpu.product}, {"pci", gpu.pci_id}}), 1);
    healthy.Add(uuid, gpu.healthy);
    memory.Add(uuid, CountOf(gpu.memory));
    used.Add(uuid, CountOf(gpu.memory_used));
    utilization.Add(uuid, gpu.utilization);
    temperature.Add(uuid, gpu.temperature);
    power.Add(uuid, gpu.power);
    xid.Add(uuid, gpu.last_xid);
  }
}

void AddAllocated(const std::string& node, const std::vector<AllocatedGpu>& allocated,
                  Families& out) {
  ScrapedFamily given(
      out, "synergy_gpu_allocated",
      "Always 1: the GPU, or a MIG device of it, is allocated to the pod's container.");
  ScrapedFamily utilization(
      out, "synergy_pod_gpu_utilization_ratio",
      "Fraction of the last sample period in which a kernel ran, over the containers' GPUs.");
  ScrapedFamily used(out, "synergy_pod_gpu_memory_used_bytes",
                     "Memory in use, over the containers' GPUs.");
  for (const AllocatedGpu& entry : allocated) {
    LabelPairs labels = OfNode(node, {{"uuid", entry.uuid}});
    if (!entry.mig_uuid.empty()) labels.emplace_back("mig_uuid", entry.mig_uuid);
    labels.emplace_back("namespace", entry.pod_namespace);
    labels.emplace_back("pod", entry.pod);
    labels.emplace_back("container", entry.container);
    utilization.Add(labels, entry.utilization);
    used.Add(labels, CountOf(entry.memory_used));
    labels.emplace_back("resource", entry.resource);
    given.Add(labels, 1);
  }
}

}  // namespace

LabelPairs OfNode(const std::string& node, LabelPairs labels) {
  if (!node.empty()) labels.insert(labels.begin(), {"node", node});
  return labels;
}

void AddGpuFamilies(const GpuGauges& gauges, Families& out) {
  AddGpus(gauges.node, gauges.gpus, out);
  AddAllocated(gauges.node, gauges.allocated, out);
}

}  // namespace synergy::metrics
