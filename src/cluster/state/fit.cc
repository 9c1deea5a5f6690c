#include "cluster/state/fit.h"

#include <algorithm>
#include <vector>

#include "cluster/node_selection.h"

namespace synergy {
namespace {

// Calls `report(name)` for every scalar resource of which the node has too little; stops when
// `report` returns false.
template <class Report>
void ForEachShortScalar(const Resources& requests, const NodeState& node, Report report) {
  for (const auto& [name, amount] : requests.other.entries()) {
    if (amount <= 0) continue;
    const int64_t free = node.detail ? WrapSubtract(node.detail->allocatable.Get(name),
                                                    node.detail->requested.Get(name))
                                     : 0;
    if (amount > free && !report(name)) return;
  }
}

bool Misaligns(const NodeState& node, Gpus gpus) {
  const std::vector<Misalignment>& all = node.detail->misaligned;
  return std::any_of(all.begin(), all.end(),
                     [gpus](const Misalignment& one) { return one.gpus == gpus; });
}

bool LacksScalars(const Resources& requests, const NodeState& node) {
  bool lacks = false;
  ForEachShortScalar(requests, node, [&lacks](const std::string&) {
    lacks = true;
    return false;
  });
  return lacks;
}

// Returns whether the node offers GPUs in the way that the pod gets its own: by claim or by
// request.
bool OffersGpus(const Pod& pod, const NodeState& node) {
  const Gpus claimed = pod.devices ? pod.devices->gpus : Gpus(0);
  if (!node.by_claim) return claimed <= Gpus(0);
  return pod.requests.main.gpus <= claimed || !node.detail->gpu_kinds.no_requests;
}

FitFailures CheckDivided(const ResourceVector& requests, const NodeState& node) {
  FitFailures failures;
  if (node.pods + 1 > node.pods_allowed) failures.Add(FitFailures::kTooManyPods);
  const ResourceVector free = node.Free();
  if (requests.gpus > Gpus(0) && requests.gpus > free.gpus) failures.Add(FitFailures::kGpus);
  if (requests.cpu > MilliCpu(0) && requests.cpu > free.cpu) failures.Add(FitFailures::kCpu);
  if (requests.memory > Bytes(0) && requests.memory > free.memory)
    failures.Add(FitFailures::kMemory);
  return failures;
}

}  // namespace

FitFailures CheckFit(const Pod& pod, const NodeState& node) {
  return CheckFit(pod, node, LacksScalars(pod.requests, node));
}

FitFailures CheckFit(const Pod& pod, const NodeState& node, bool lacks_scalars) {
  if (!node.exists) {
    FitFailures unknown;
    unknown.Add(FitFailures::kUnknownNode);
    return unknown;
  }
  FitFailures failures = CheckDivided(pod.requests.main, node);
  if ((pod.devices || node.by_claim) && !OffersGpus(pod, node)) failures.Add(FitFailures::kGpus);
  if (lacks_scalars) failures.Add(FitFailures::kOther);
  if (!pod.gpu_product.empty() && !node.detail->gpu_kinds.MayHave(pod.gpu_product)) {
    failures.Add(FitFailures::kGpuProduct);
  }
  if (node.misaligns && Misaligns(node, pod.requests.main.gpus)) {
    failures.Add(FitFailures::kMisaligned);
  }
  if (pod.fungible && pod.fungible->placeholder) failures.Add(FitFailures::kPlaceholder);
  if (node.deleting) failures.Add(FitFailures::kDeleting);
  if (node.unschedulable && !pod.tolerates_unschedulable) failures.Add(FitFailures::kUnschedulable);
  return failures;
}

bool MayGoTo(const Pod& pod, const NodeState& node) {
  return node.Schedulable() && MayGoTo(*pod.waiting->selection, node.detail->name,
                                       node.detail->labels, node.detail->taints);
}

bool Unresolvable(FitFailures failures, const Resources& requests, const NodeState& node) {
  if (failures.Has(FitFailures::kDeleting) || failures.Has(FitFailures::kUnschedulable) ||
      failures.Has(FitFailures::kGpuProduct) || failures.Has(FitFailures::kPlaceholder) ||
      failures.Has(FitFailures::kMisaligned)) {
    return true;
  }
  // An unknown node may become known, so eviction there might still help.
  if (failures.Has(FitFailures::kUnknownNode)) return false;
  if (!requests.main.FitsWithin(node.allocatable)) return true;
  for (const auto& [name, amount] : requests.other.entries()) {
    if (amount > 0 && amount > (node.detail ? node.detail->allocatable.Get(name) : 0)) return true;
  }
  return false;
}

std::string DescribeFailures(FitFailures failures, const Resources& requests, const NodeState* node,
                             std::string_view gpu_resource) {
  std::string text;
  const auto append = [&text](std::string_view part, std::string_view resource = {}) {
    if (!text.empty()) text += ", ";
    text += part;
    text += resource;
  };
  if (failures.Has(FitFailures::kUnknownNode)) append("node is not known to the extender yet");
  if (failures.Has(FitFailures::kDeleting)) append("node is being deleted");
  if (failures.Has(FitFailures::kUnschedulable)) append("node(s) were unschedulable");
  if (failures.Has(FitFailures::kGpuProduct)) append("GPUs of another product");
  if (failures.Has(FitFailures::kPlaceholder)) {
    append("CPU and memory of the pod are not set yet; synergy-controller sets them");
  }
  if (failures.Has(FitFailures::kMisaligned)) {
    append("node has recently failed a similar pod (TopologyAffinityError)");
  }
  if (failures.Has(FitFailures::kTooManyPods)) append("Too many pods");
  if (failures.Has(FitFailures::kGpus)) append("Insufficient ", gpu_resource);
  if (failures.Has(FitFailures::kCpu)) append("Insufficient cpu");
  if (failures.Has(FitFailures::kMemory)) append("Insufficient memory");
  if (failures.Has(FitFailures::kOther) && node != nullptr) {
    ForEachShortScalar(requests, *node, [&append](const std::string& name) {
      append("Insufficient ", name);
      return true;
    });
  }
  return text;
}

}  // namespace synergy
