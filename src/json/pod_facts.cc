#include <algorithm>
#include <utility>

#include "json/admission_objects.h"
#include "json/object_readers.h"
#include "json/resource_list.h"

namespace synergy::json {
namespace {

// The API server wants requests and limits of an extended resource to be equal, and fills in the
// one from the other.
Gpus ReadGpus(FieldReader& fields, Value resources, std::string_view gpu_resource) {
  const auto amount = [&](const char* list) {
    return ToBytes(fields.Amount(fields.Object(resources[list])[gpu_resource]), kLargestRequest)
        .count();
  };
  return Gpus(std::max(amount("requests"), amount("limits")));
}

}  // namespace

admission::PodFacts ReadPodFacts(FieldReader& fields, Value pod, std::string pod_namespace,
                                 std::string_view gpu_resource) {
  const Value metadata = fields.Object(pod["metadata"]);
  const Value spec = fields.Object(pod["spec"]);
  admission::PodFacts facts;
  facts.pod_namespace = std::move(pod_namespace);
  if (facts.pod_namespace.empty()) facts.pod_namespace = ReadText(fields, metadata["namespace"]);
  facts.scheduler = ReadText(fields, spec["schedulerName"]);
  facts.labels = ReadLabels(fields, metadata["labels"]);
  facts.has_node = !fields.Text(spec["nodeName"]).empty();
  facts.pod_level_resources = !fields.Object(spec["resources"]).missing();
  fields.Object(metadata["annotations"]).ForEachMember([&](std::string_view key, Value value) {
    facts.annotation_bytes += key.size() + fields.Text(value).size();
    if (key == "kubernetes.io/config.mirror") facts.mirror = true;
  });
  size_t index = 0;
  fields.Array(spec["containers"]).ForEachElement([&](Value container) {
    container = fields.Object(container);
    const Value resources = fields.Object(container["resources"]);
    const Gpus gpus = ReadGpus(fields, resources, gpu_resource);
    if (gpus > Gpus(0)) {
      admission::GpuContainer& found = facts.gpu_containers.emplace_back();
      found.index = index;
      found.name = ReadText(fields, container["name"]);
      found.gpus = gpus;
      if (const Value limit = fields.Object(resources["limits"])["cpu"]; !limit.absent())
        found.cpu_limit = ToMilliCpu(fields.Amount(limit), kLargestRequest);
    }
    ++index;
  });
  // Only of use to GPU pods, and the most work.
  if (!facts.gpu_containers.empty()) facts.selection = ReadNodeSelection(fields, spec);
  return facts;
}

}  // namespace synergy::json
