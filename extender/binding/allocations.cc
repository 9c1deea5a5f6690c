#include "extender/binding/allocations.h"

#include <utility>

#include <fmt/format.h>

#include "allocation/bind_allocation.h"
#include "cluster/annotations.h"
#include "core/text/quantity_text.h"
#include "wire/pods/pod_writes.h"

namespace synergy::extender {
namespace {

bool Changes(const Pod& pod, const Pod& planned) {
  return pod.fungible && planned.fungible->requested != pod.fungible->requested;
}

// Returns whether the pod, as the API server has it, requests these amounts. Its requests do not
// include GPUs from ResourceClaims.
bool Requests(const Pod& pod, const ResourceVector& amounts) {
  return pod.fungible && pod.fungible->requested.cpu == amounts.cpu &&
         pod.fungible->requested.memory == amounts.memory;
}

bool HasDemand(const ManagedContainer& fungible) {
  return LargerOf(fungible.requested, fungible.demand) == fungible.requested;
}

// Describes the node's free GPUs, and the free CPU and memory per GPU.
std::string Leftover(const NodeState& node) {
  const ResourceVector free = LargerOf(node.Free(), {});
  const int64_t gpus = node.Free().gpus.count();
  if (gpus <= 0) return "no free GPU is left there";
  // In round figures, for human readers.
  const MilliCpu cpu(free.cpu.count() / gpus / 100 * 100);
  const int64_t unit = (free.memory.count() / gpus >= GiB(1).count() ? GiB(1) : MiB(1)).count();
  const Bytes memory(free.memory.count() / gpus / unit * unit);
  const ResourceVector each{Gpus(1), cpu, memory};
  return fmt::format("{} free GPUs are left there, with {} each", gpus, DescribeCpuAndMemory(each));
}

}  // namespace

Allocations::Allocations(kube::PodApi& pods, kube::EventRecorder& events, const Clock& clock,
                         Logger& log, metrics::ExtenderMetrics& metrics, ReserveRule reserve)
    : pods_(pods),
      events_(events),
      clock_(clock),
      log_(log),
      metrics_(metrics),
      reserve_(reserve) {}

Pod Allocations::Plan(const Pod& pod, const std::string& node, const ClusterSnapshot& snapshot,
                      const std::optional<ResourceVector>& common) const {
  return PlanAtBind(pod, node, snapshot, reserve_, common);
}

Result<uint64_t> Allocations::Set(const Pod& pod, const Pod& planned, const std::stop_token& stop) {
  if (!Changes(pod, planned)) return pod.resource_version;
  const ResourceVector& amounts = planned.fungible->requested;
  // The resize of an earlier bind may take effect late, so kUnchanged makes the API server refuse
  // this one if the pod has changed.
  const Result<Pod> resized =
      pods_.Resize(pod, amounts, kube::Precondition::kUnchanged, kube::Resized::kBoth, stop);
  if (resized && Requests(*resized, amounts)) {
    return resized->resource_version;
  }
  Error error =
      resized ? Error{ErrorCode::kConflict, "another client has changed the pod"} : resized.error();
  log_.Warn("cannot set an allocation", {{"pod", pod.Key()}, {"error", error.message}});
  if (error.code == ErrorCode::kDenied || error.code == ErrorCode::kInvalid) {
    metrics_.CountAllocation("refused");
    RecordEvent(pod, "Warning",
                fmt::format("could not be given {}, so it starts with {}: {}",
                            DescribeCpuAndMemory(amounts),
                            DescribeCpuAndMemory(pod.fungible->requested), error.message));
    return Fail(ErrorCode::kDenied, std::move(error.message));
  }
  metrics_.CountAllocation("failed");
  // The resize may have taken effect despite the error.
  Undo(pod, planned, stop);
  return Fail(std::move(error));
}

void Allocations::Undo(const Pod& pod, const Pod& planned, const std::stop_token& stop) {
  if (!Changes(pod, planned)) return;
  const ResourceVector& before = pod.fungible->requested;
  Result<Pod> undone = pods_.Get(pod.pod_namespace, pod.name, stop);
  if (undone) {
    const bool is_other = undone->uid != pod.uid || !undone->node.empty() || !undone->fungible;
    if (is_other || Requests(*undone, before)) return;
    undone =
        pods_.Resize(*undone, before, kube::Precondition::kUnchanged, kube::Resized::kBoth, stop);
  }
  if (undone || undone.error().code == ErrorCode::kNotFound) return;
  // The next bind starts from the state that the watch reports; the tuner cuts a waiting pod to its
  // floor.
  log_.Warn("cannot revert an allocation", {{"pod", pod.Key()}, {"error", undone.error().message}});
}

std::string Allocations::Reason(const Pod& bound, const std::string& node,
                                const ClusterSnapshot& snapshot) {
  if (!bound.fungible) return {};
  const ManagedContainer& fungible = *bound.fungible;
  std::string reason = HasDemand(fungible)
                           ? fmt::format("its demand, on node {}", node)
                           : fmt::format("the part that node {} has now of its demand ({})", node,
                                         DescribeCpuAndMemory(fungible.demand));
  const auto place = snapshot.Find(node);
  if (place && !bound.SharesGpus()) reason += "; " + Leftover(snapshot.node(*place));
  return reason;
}

kube::AnnotationChanges Allocations::Describe(const Pod& pod, const Pod& bound,
                                              std::string why) const {
  if (!pod.fungible) return {};
  const ChangeRecord change{ChangeKind::kAllocated, pod.fungible->requested,
                            bound.fungible->requested, std::move(why), clock_.WallNow()};
  return {{annotations::kChange, wire::WriteChange(change)}};
}

void Allocations::Bound(const Pod& pod, const Pod& bound, const std::string& why) {
  if (!pod.fungible) return;
  const ManagedContainer& fungible = *bound.fungible;
  metrics_.CountAllocation(HasDemand(fungible)   ? "demand"
                           : Changes(pod, bound) ? "part"
                                                 : "unchanged");
  if (!Changes(pod, bound)) return;
  RecordEvent(pod, "Normal",
              fmt::format("from {} to {}: {}", DescribeCpuAndMemory(pod.fungible->requested),
                          DescribeCpuAndMemory(fungible.requested), why));
}

void Allocations::RecordEvent(const Pod& pod, std::string_view type, std::string message) {
  events_.Record(kube::AboutPod(pod, std::string(type), "SynergyAllocated", std::move(message)));
}

}  // namespace synergy::extender
