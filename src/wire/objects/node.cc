#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>
#include <system_error>

#include "inventory/gpu_labels.h"
#include "inventory/node_labels.h"
#include "wire/base/json_words.h"
#include "wire/base/metadata.h"
#include "wire/base/resource_list.h"
#include "wire/objects/gpu_inventory.h"
#include "wire/objects/kind.h"
#include "wire/objects/object_readers.h"

namespace synergy::wire {

namespace {

// GPU feature discovery adds a suffix to the product in the label if a node offers its GPUs in
// parts.
bool IsPartOf(std::string_view labelled, std::string_view product) {
  if (!labelled.starts_with(product)) return false;
  labelled.remove_prefix(product.size());
  return labelled.starts_with("-MIG-") || labelled == "-SHARED";
}

// Beyond any device plugin's limit.
constexpr int64_t kMostSlicesPerGpu = 1024;

// Returns 0 unless the text is a number of slices.
int64_t ReplicasByLabel(std::string_view text) {
  int64_t replicas = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), replicas);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  return is_number && replicas > 0 && replicas <= kMostSlicesPerGpu ? replicas : 0;
}

// Reads the annotation of Synergy's device plugin or, if it is missing or invalid, labels
// (inventory/gpu_labels.h). Pods name a product as the label of GPU feature discovery does.
GpuKinds ReadGpuKinds(FieldReader& fields, Value annotation, Value labels) {
  GpuKinds kinds;
  if (!annotation.absent()) {
    const Result<NodeGpus> gpus = ReadGpuInventory(fields.Text(annotation));
    if (!gpus) {
      fields.Report(annotation, gpus.error().message);
    } else {
      kinds.slices_per_gpu = gpus->replicas;
      std::map<int, int64_t> by_numa_node;
      for (const Gpu& gpu : gpus->inventory.gpus()) {
        const std::string product = ToLabelValue(gpu.product);
        if (kinds.products.empty() || !kinds.MayHave(product)) kinds.products.push_back(product);
        if (gpu.numa_node != kNoNuma) ++by_numa_node[gpu.numa_node];
      }
      for (const auto& [numa_node, count] : by_numa_node) {
        kinds.most_per_numa_node = std::max(kinds.most_per_numa_node, count);
      }
    }
  }
  if (kinds.slices_per_gpu == 0)
    kinds.slices_per_gpu = ReplicasByLabel(fields.Text(labels[kReplicasLabel]));
  const std::string labelled =
      ProductByLabels([&](std::string_view key) { return fields.Text(labels[key]); });
  if (labelled.empty()) return kinds;
  if (kinds.products.empty()) kinds.products.push_back(labelled);
  for (std::string& product : kinds.products) {
    if (IsPartOf(labelled, product)) product = labelled;
  }
  return kinds;
}

}  // namespace

Node ReadNodeObject(FieldReader& fields, Value object, std::string_view gpu_resource) {
  const Value metadata = fields.Object(object["metadata"]);
  const Value spec = fields.Object(object["spec"]);
  const Value status = fields.Object(object["status"]);
  Node node;
  node.name = ReadText(fields, metadata["name"]);
  node.labels = ReadLabels(fields, metadata["labels"]);
  node.gpu_kinds =
      ReadGpuKinds(fields, fields.Object(metadata["annotations"])[kGpuInventoryAnnotation],
                   fields.Object(metadata["labels"]));
  node.deleting = ReadDeleting(fields, metadata);
  node.unschedulable = fields.Truth(spec["unschedulable"]);
  fields.Array(spec["taints"]).ForEachElement([&](Value taint) {
    taint = fields.Object(taint);
    node.taints.push_back({ReadText(fields, taint["key"]), ReadText(fields, taint["value"]),
                           ReadText(fields, taint["effect"])});
  });
  fields.Array(status["conditions"]).ForEachElement([&](Value condition) {
    condition = fields.Object(condition);
    if (fields.Text(condition["type"]) != "MemoryPressure") return;
    node.short_of_memory = fields.Text(condition["status"]) == "True";
  });
  const ResourceList allocatable = ResourceList::Read(fields, status["allocatable"]);
  node.allocatable = allocatable.ToResources(gpu_resource, kLargestAllocatable);
  const Resources capacity =
      ResourceList::Read(fields, status["capacity"]).ToResources(gpu_resource, kLargestAllocatable);
  node.gpu_kinds.installed = capacity.main.gpus;
  node.gpu_kinds.slices = std::max({Slices(0), SlicesOf(capacity.other, gpu_resource),
                                    SlicesOf(node.allocatable.other, gpu_resource)});
  if (node.gpu_kinds.slices <= Slices(0)) node.gpu_kinds.slices_per_gpu = 0;
  node.pods_allowed = allocatable.Units("pods", kLargestAllocatable);
  node.boot_id = ReadText(fields, fields.Object(status["nodeInfo"])["bootID"]);
  return node;
}

template <>
struct Kind<Node> {
  static constexpr std::string_view kName = "node";
  static Node Read(FieldReader& fields, Value object, const PodRules& rules) {
    return ReadNodeObject(fields, object, rules.gpu_resource);
  }
};

template struct KindReader<Node>;

}  // namespace synergy::wire
