#include "cluster/state/cluster_journal.h"

#include <fmt/format.h>

#include "cluster/state/cluster_state.h"

namespace synergy {
namespace {

namespace change = cluster_change;

struct Caller {
  ClusterState& state;
  bool same_outcome = true;

  void operator()(const change::ReplaceNodes& call) { state.ReplaceNodes(call.nodes); }
  void operator()(const change::UpsertNode& call) { state.UpsertNode(call.node); }
  void operator()(const change::RemoveNode& call) { state.RemoveNode(call.name); }
  void operator()(const change::PutListedPods& call) {
    state.PutListedPods(call.pods, call.heard_until);
  }
  void operator()(const change::UpsertPod& call) { state.UpsertPod(call.pod); }
  void operator()(const change::RemovePod& call) { state.RemovePod(call.uid); }
  void operator()(const change::RefreshPod& call) { state.RefreshPod(call.pod); }
  void operator()(const change::ReplaceDisruptionBudgets& call) {
    state.ReplaceDisruptionBudgets(call.budgets);
  }
  void operator()(const change::UpsertDisruptionBudget& call) {
    state.UpsertDisruptionBudget(call.budget);
  }
  void operator()(const change::RemoveDisruptionBudget& call) {
    state.RemoveDisruptionBudget(call.uid);
  }
  void operator()(const change::ReplaceLimitRanges& call) { state.ReplaceLimitRanges(call.ranges); }
  void operator()(const change::UpsertLimitRange& call) { state.UpsertLimitRange(call.range); }
  void operator()(const change::RemoveLimitRange& call) { state.RemoveLimitRange(call.uid); }
  void operator()(const change::ReplaceResourceQuotas& call) {
    state.ReplaceResourceQuotas(call.quotas);
  }
  void operator()(const change::UpsertResourceQuota& call) {
    state.UpsertResourceQuota(call.quota);
  }
  void operator()(const change::RemoveResourceQuota& call) { state.RemoveResourceQuota(call.uid); }
  void operator()(const change::Expect& call) { state.Expect(call.pod, call.node, call.deadline); }
  void operator()(const change::Assume& call) {
    same_outcome = state.Assume(call.pod, call.node, call.deadline) == call.outcome;
  }
  void operator()(const change::Forget& call) { state.Forget(call.uid); }
  void operator()(const change::Extend& call) { state.Extend(call.uid, call.deadline); }
  void operator()(const change::DropStaleExpectations& call) {
    state.DropStaleExpectations(call.now, call.wall);
  }
  void operator()(const change::Hold& call) {
    same_outcome = state.Hold(call.places, call.deadline) == call.held;
  }
  void operator()(const change::Release& call) { state.Release(call.uids); }
  void operator()(const change::HoldVacated& call) { state.HoldVacated(call.hold); }
  void operator()(const change::SettleVacant& call) {
    state.SettleVacant(call.uid, call.is_awaited);
  }
  void operator()(const change::KeepNews&) { state.KeepNews(); }
};

}  // namespace

Result<> Apply(ClusterState& state, const ClusterChange& change) {
  Caller caller{state};
  std::visit(caller, change.call);
  if (!caller.same_outcome) {
    return Fail(ErrorCode::kConflict,
                fmt::format("version {}: a pod is assumed with another outcome", change.version));
  }
  if (const uint64_t version = state.version(); version != change.version) {
    return Fail(ErrorCode::kConflict,
                fmt::format("version {} instead of {}", version, change.version));
  }
  return {};
}

}  // namespace synergy
