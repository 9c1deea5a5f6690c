#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "cluster/annotations.h"
#include "cluster/node_selection.h"
#include "wire/base/json_words.h"
#include "wire/base/metadata.h"
#include "wire/base/resource_list.h"
#include "wire/objects/kind.h"
#include "wire/objects/object_readers.h"

namespace synergy::wire {
namespace {

// A day; nothing waits longer than that.
constexpr std::chrono::seconds kLongestGrace = std::chrono::hours(24);

// Returns whether the pod tolerates the taint that cordons a node,
// node.kubernetes.io/unschedulable:NoSchedule with an empty value
// (v1helper.TolerationsTolerateTaint).
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

// Returns the whole pod's demand, which is at least its requests. The annotation concerns the
// container that has the GPUs if one is named, otherwise the pod.
std::optional<ResourceVector> ReadDemand(FieldReader& fields, Value annotations,
                                         const ResourceVector& requests,
                                         const ManagedContainer* fungible) {
  std::optional<ResourceVector> demand =
      ReadAmountsAnnotation(fields, annotations[annotations::kDemand]);
  if (!demand) return std::nullopt;
  if (fungible != nullptr) {
    *demand = requests + fungible->Counted(*demand) - fungible->Counted(fungible->requested);
  }
  demand->gpus = requests.gpus;
  return LargerOf(*demand, requests);
}

constexpr std::string_view kBadDemand =
    "the annotation synergy.io/demand is ignored: it is not of the form "
    R"({"cpu": "4", "memory": "8Gi"})";

// The most warnings that the webhook writes (SetWarnings()). Further ones, from another client, are
// dropped.
constexpr size_t kMostLines = 16;
constexpr size_t kMostOfLines = 2048;

std::vector<std::string> ReadLines(FieldReader& fields, Value annotation) {
  std::vector<std::string> lines;
  std::string_view text = fields.Text(annotation).substr(0, kMostOfLines);
  while (!text.empty() && lines.size() < kMostLines) {
    const size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

// Returns the container of a pod that has opted out while it lends or borrows CPU. The loan must
// end before Synergy leaves the pod alone. Returns null if there is no loan.
std::shared_ptr<const ManagedContainer> ThatLeaves(
    std::shared_ptr<const ManagedContainer> container) {
  if (!container) return nullptr;
  const bool in_loan = container->Lends() > MilliCpu(0) || container->Borrows() > MilliCpu(0);
  if (!in_loan) return nullptr;
  auto leaving = std::make_shared<ManagedContainer>(*container);
  leaving->leaves = true;
  return leaving;
}

}  // namespace

Pod ReadPodObject(FieldReader& fields, Value object, PodUse use, const PodRules& rules) {
  const std::string_view gpu_resource = rules.gpu_resource;
  const Value metadata = fields.Object(object["metadata"]);
  const Value spec = fields.Object(object["spec"]);
  const Value status = fields.Object(object["status"]);
  Pod pod;
  pod.uid = ReadText(fields, metadata["uid"]);
  // The watch event reports a version that is not a number.
  pod.resource_version = FieldReader(object).NumberInText(metadata["resourceVersion"]);
  pod.pod_namespace = ReadText(fields, metadata["namespace"]);
  pod.name = ReadText(fields, metadata["name"]);
  pod.labels = ReadLabels(fields, metadata["labels"]);
  pod.deleting = ReadDeleting(fields, metadata);
  constexpr int64_t kAny = std::numeric_limits<int64_t>::max();
  pod.grace = std::chrono::seconds(std::min<int64_t>(
      fields.Integer(spec["terminationGracePeriodSeconds"], 0, kAny), kLongestGrace.count()));
  pod.node = ReadText(fields, spec["nodeName"]);
  pod.priority = static_cast<int32_t>(fields.Integer(
      spec["priority"], std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()));
  pod.tolerates_unschedulable = ToleratesUnschedulable(fields, spec["tolerations"]);
  bool gated = false;
  fields.Array(spec["schedulingGates"]).ForEachElement([&gated](Value) { gated = true; });
  pod.gated = gated;
  const std::string_view phase = fields.Text(status["phase"]);
  pod.succeeded = phase == "Succeeded";
  pod.terminal = pod.succeeded || phase == "Failed";
  pod.misaligned = phase == "Failed" && fields.Text(status["reason"]) == "TopologyAffinityError";
  pod.requests = ReadPodRequests(fields, spec, status, use, gpu_resource);
  pod.slices = SlicesOf(pod.requests.other, gpu_resource);
  if (rules.device_claims) pod.devices = ReadPodDevices(fields, spec, status);
  const bool may_use_gpus = pod.UsesGpus() || pod.SharesGpus() || pod.devices;
  const Value annotations = fields.Object(metadata["annotations"]);
  // Users who may write pods may write invalid values here, which must not prevent a placement.
  FieldReader lenient(object);
  FieldReader& checked = use == PodUse::kIncoming ? lenient : fields;
  const bool managed = may_use_gpus && IsManaged(spec, rules.claims);
  // kube-scheduler sends no managedFields with an incoming pod.
  const bool may_claim = managed && use == PodUse::kAccounted && !pod.gated && !pod.terminal;
  const ClaimRules* const claims = may_claim ? &rules.claims : nullptr;
  // A pod that others manage, or that opted out, is never changed, whatever its annotations
  // contain. A pod that Kueue manages directly keeps the amounts that it was admitted with, because
  // Kueue deletes a pod whose containers change.
  const Value labels = metadata["labels"];
  const bool by_kueue = labels[annotations::kKueuePod].text() == "true";
  if (managed && !by_kueue) {
    const bool opted_out = labels[annotations::kFungible].text() == "false";
    pod.fungible = ReadManagedContainer(opted_out ? lenient : checked, metadata, spec, status, use,
                                        claims, gpu_resource);
    if (opted_out) pod.fungible = ThatLeaves(std::move(pod.fungible));
  }
  const Value labelled = metadata["labels"][annotations::kGpuProduct];
  pod.gpu_product =
      checked.Text(labelled.absent() ? annotations[annotations::kGpuProduct] : labelled);
  if (pod.fungible) pod.requests.main += pod.fungible->AnnouncedGrowth();
  pod.gang = ReadGang(pod.pod_namespace, metadata);
  // Only the scheduler of other pods, and the amounts that they take from their nodes, matter.
  const bool placed_by_us = use == PodUse::kIncoming || may_use_gpus || pod.gang != nullptr;
  if (pod.node.empty())
    pod.waiting = ReadWaiting(checked, metadata, spec, status, claims, placed_by_us);
  if (!placed_by_us) return pod;
  // A plan for the gang needs these rules even for members that already run.
  if (pod.gang) pod.separation = ReadSeparation(lenient, spec, pod);
  pod.warnings = ReadLines(checked, annotations[annotations::kWarnings]);
  // A pod that Kueue manages directly keeps its amounts, so it cannot use more.
  if (pod.fungible || !by_kueue) {
    pod.demand = ReadDemand(checked, annotations, pod.requests.main, pod.fungible.get());
    if (!pod.demand && !annotations[annotations::kDemand].absent())
      pod.warnings.emplace_back(kBadDemand);
  }
  return pod;
}

Pod AccountedOnly(Pod pod) {
  Pod accounted;
  accounted.uid = std::move(pod.uid);
  accounted.resource_version = pod.resource_version;
  accounted.pod_namespace = std::move(pod.pod_namespace);
  accounted.name = std::move(pod.name);
  accounted.node = std::move(pod.node);
  accounted.requests = std::move(pod.requests);
  accounted.slices = pod.slices;
  accounted.devices = std::move(pod.devices);
  accounted.priority = pod.priority;
  accounted.terminal = pod.terminal;
  accounted.succeeded = pod.succeeded;
  accounted.deleting = pod.deleting;
  if (pod.waiting) {
    // The pod's conditions on nodes are unknown, so no place is sought for it.
    accounted.gated = true;
    auto waiting = std::make_shared<Waiting>();
    waiting->scheduler = pod.waiting->scheduler;
    waiting->nominated_node = pod.waiting->nominated_node;
    waiting->selection = std::make_shared<const NodeSelection>();
    accounted.waiting = std::move(waiting);
  }
  return accounted;
}

template <>
struct Kind<Pod> {
  static constexpr std::string_view kName = "pod";
  static Pod Read(FieldReader& fields, Value object, const PodRules& rules) {
    return ReadPodObject(fields, object, PodUse::kAccounted, rules);
  }
};

template struct KindReader<Pod>;

}  // namespace synergy::wire
