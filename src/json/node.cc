#include "json/object_readers.h"
#include "json/resource_list.h"

namespace synergy::json {

Node ReadNodeObject(FieldReader& fields, Value object, std::string_view gpu_resource) {
  const Value metadata = fields.Object(object["metadata"]);
  const Value spec = fields.Object(object["spec"]);
  const Value status = fields.Object(object["status"]);
  Node node;
  node.name = ReadText(fields, metadata["name"]);
  node.labels = ReadLabels(fields, metadata["labels"]);
  node.deleting = ReadDeleting(fields, metadata);
  node.unschedulable = fields.Truth(spec["unschedulable"]);
  fields.Array(spec["taints"]).ForEachElement([&](Value taint) {
    taint = fields.Object(taint);
    node.taints.push_back({ReadText(fields, taint["key"]), ReadText(fields, taint["value"]),
                           ReadText(fields, taint["effect"])});
  });
  const ResourceList allocatable = ResourceList::Read(fields, status["allocatable"]);
  node.allocatable = allocatable.ToResources(gpu_resource, kLargestAllocatable);
  node.pods_allowed = allocatable.Units("pods", kLargestAllocatable);
  return node;
}

}  // namespace synergy::json
