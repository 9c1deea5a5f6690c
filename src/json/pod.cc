#include <algorithm>
#include <limits>
#include <optional>

#include "json/object_readers.h"
#include "json/resource_list.h"

namespace synergy::json {
namespace {

constexpr std::string_view kDemandAnnotation = "synergy.io/demand";

// Whether the taint that cordons a node, node.kubernetes.io/unschedulable:NoSchedule with an empty
// value, is tolerated (v1helper.TolerationsTolerateTaint).
bool ToleratesUnschedulable(FieldReader& fields, Value tolerations) {
  bool tolerates = false;
  fields.Array(tolerations).ForEachElement([&](Value toleration) {
    toleration = fields.Object(toleration);
    if (toleration.missing()) return;
    const std::string_view effect = fields.Text(toleration["effect"]);
    const std::string_view key = fields.Text(toleration["key"]);
    const std::string_view op = fields.Text(toleration["operator"]);
    const std::string_view value = fields.Text(toleration["value"]);
    if (!effect.empty() && effect != "NoSchedule") return;
    if (!key.empty() && key != "node.kubernetes.io/unschedulable") return;
    tolerates |= op == "Exists" || ((op.empty() || op == "Equal") && value.empty());
  });
  return tolerates;
}

// The annotation's CPU and memory, each at least what is requested.
std::optional<ResourceVector> ReadDemand(FieldReader& fields, Value annotation,
                                         const ResourceVector& requests) {
  const std::string_view text = fields.Text(annotation);
  if (annotation.absent() || !annotation.IsString()) return std::nullopt;
  const Result<Document> document = Document::Parse(text);
  if (!document) {
    fields.Report(annotation, document.error().message);
    return std::nullopt;
  }
  const Value demand = document->root();
  FieldReader inner(demand);
  const Value cpu = inner.Object(demand)["cpu"];
  const Value memory = demand["memory"];
  ResourceVector wanted = requests;
  wanted.cpu = std::max(wanted.cpu, ToMilliCpu(inner.Amount(cpu), kLargestRequest));
  wanted.memory = std::max(wanted.memory, ToBytes(inner.Amount(memory), kLargestRequest));
  if (inner.ok() && cpu.absent() && memory.absent()) {
    inner.Report(demand, "has neither cpu nor memory");
  }
  fields.Adopt(annotation, inner);
  if (!inner.ok()) return std::nullopt;
  return wanted;
}

}  // namespace

Pod ReadPodObject(FieldReader& fields, Value object, PodUse use, std::string_view gpu_resource) {
  const Value metadata = fields.Object(object["metadata"]);
  const Value spec = fields.Object(object["spec"]);
  const Value status = fields.Object(object["status"]);
  Pod pod;
  pod.uid = ReadText(fields, metadata["uid"]);
  pod.pod_namespace = ReadText(fields, metadata["namespace"]);
  pod.name = ReadText(fields, metadata["name"]);
  pod.labels = ReadLabels(fields, metadata["labels"]);
  pod.deleting = ReadDeleting(fields, metadata);
  pod.node = ReadText(fields, spec["nodeName"]);
  pod.priority = static_cast<int32_t>(fields.Integer(
      spec["priority"], std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()));
  pod.tolerates_unschedulable = ToleratesUnschedulable(fields, spec["tolerations"]);
  bool gated = false;
  fields.Array(spec["schedulingGates"]).ForEachElement([&gated](Value) { gated = true; });
  pod.gated = gated;
  const std::string_view phase = fields.Text(status["phase"]);
  pod.terminal = phase == "Succeeded" || phase == "Failed";
  pod.requests = ReadPodRequests(fields, spec, status, use, gpu_resource);
  const Value annotations = fields.Object(metadata["annotations"]);
  pod.demand = ReadDemand(fields, annotations[kDemandAnnotation], pod.requests.main);
  return pod;
}

}  // namespace synergy::json
