#include "allocation/preemption.h"

#include <algorithm>
#include <numeric>

#include "allocation/room_under_way.h"
#include "allocation/surplus.h"
#include "cluster/state/fit.h"

namespace synergy {
namespace {

// Returns the node without `pod`, if the pod is expected or assumed there.
NodeState WithoutOwnShare(const NodeState& node, const Pod& pod) {
  for (const auto& other : node.detail->pods) {
    if (other->uid == pod.uid) return WithoutPod(node, *other);
  }
  return node;
}

bool HasManaged(const NodeState& node) {
  const auto& pods = node.detail->pods;
  return std::any_of(pods.begin(), pods.end(),
                     [](const auto& pod) { return pod->fungible != nullptr; });
}

}  // namespace

int64_t CountBudgetViolations(const std::vector<DisruptionBudget>& budgets,
                              const std::vector<std::shared_ptr<const Pod>>& pods,
                              std::vector<bool>& violating) {
  std::vector<int64_t> allowed;
  allowed.reserve(budgets.size());
  for (const DisruptionBudget& budget : budgets) allowed.push_back(budget.disruptions_allowed);
  violating.assign(pods.size(), false);
  int64_t violations = 0;
  for (size_t i = 0; i < pods.size(); ++i) {
    // In kube-scheduler's preemption no budget covers a pod without labels, and an empty selector
    // selects nothing.
    if (pods[i]->labels.empty()) continue;
    for (size_t b = 0; b < budgets.size(); ++b) {
      const DisruptionBudget& budget = budgets[b];
      if (budget.pod_namespace != pods[i]->pod_namespace || budget.selector.requirements.empty() ||
          !budget.selector.Matches(pods[i]->labels)) {
        continue;
      }
      const auto& disrupted = budget.disrupted_pods;
      if (std::find(disrupted.begin(), disrupted.end(), pods[i]->name) != disrupted.end()) continue;
      if (--allowed[b] < 0) violating[i] = true;
    }
    if (violating[i]) ++violations;
  }
  return violations;
}

std::optional<Victims> SelectVictims(const ClusterSnapshot& snapshot, const Pod& pod,
                                     NodeIndex node, const std::vector<std::string>& proposed,
                                     std::optional<WallTime> reclaims_at) {
  const NodeState& counted = snapshot.node(node);
  if (!counted.exists) return std::nullopt;
  NodeState state = WithoutOwnShare(counted, pod);
  if (reclaims_at) {
    // The pod fits now: a cut may have made the room since kube-scheduler checked.
    if (CheckFit(pod, state).none()) {
      if (HasManaged(state)) return std::nullopt;
    } else {
      state = WithoutSurplus(state, *reclaims_at);
      // Cuts in progress count as well.
      if (MayFitSoon(pod, state)) return std::nullopt;
    }
  }
  Victims victims;
  for (const auto& candidate : state.detail->pods) {
    if (std::find(proposed.begin(), proposed.end(), candidate->uid) != proposed.end())
      victims.pods.push_back(candidate);
  }
  if (victims.pods.empty()) return std::nullopt;

  // Reprieve in this order: high priority first, ties by name so that the result is reproducible.
  auto& pods = victims.pods;
  std::sort(pods.begin(), pods.end(), [](const auto& a, const auto& b) {
    return a->priority != b->priority ? a->priority > b->priority : a->Key() < b->Key();
  });
  std::vector<bool> violating;
  victims.disruption_budget_violations =
      CountBudgetViolations(snapshot.disruption_budgets(), pods, violating);
  if (CheckFit(pod, state).none()) return victims;

  NodeState without = state;
  for (const auto& victim : pods) without = WithoutPod(without, *victim);
  if (!CheckFit(pod, without).none()) return std::nullopt;

  std::vector<size_t> order(pods.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_partition(order.begin(), order.end(),
                        [&violating](size_t i) { return violating[i]; });
  std::vector<bool> spared(pods.size(), false);
  for (const size_t i : order) {
    NodeState with = WithPod(without, pods[i]);
    spared[i] = CheckFit(pod, with).none();
    if (spared[i]) without = std::move(with);
  }
  Victims least;
  for (size_t i = 0; i < pods.size(); ++i) {
    if (!spared[i]) least.pods.push_back(pods[i]);
  }
  least.disruption_budget_violations =
      CountBudgetViolations(snapshot.disruption_budgets(), least.pods, violating);
  return least;
}

std::vector<NodeVictims> SelectVictimsByNode(
    const ClusterSnapshot& snapshot, const Pod& pod,
    const std::vector<std::pair<std::string, std::vector<std::string>>>& proposed,
    std::optional<WallTime> reclaims_at) {
  std::vector<NodeVictims> nodes;
  for (const auto& [name, uids] : proposed) {
    const auto index = snapshot.Find(name);
    if (!index) continue;
    auto victims = SelectVictims(snapshot, pod, *index, uids, reclaims_at);
    if (victims) nodes.push_back({name, *std::move(victims)});
  }
  return nodes;
}

bool BoundedWait::Lasts(const std::string& uid, Instant now, uint64_t version) {
  std::erase_if(asked_,
                [this, now](const auto& entry) { return now - entry.second.last > forget_after_; });
  Asked& asked = asked_.try_emplace(uid, Asked{now, now, version}).first->second;
  if (version != asked.version && (!asked.lasted || now - asked.last > limit_)) asked.first = now;
  asked.last = now;
  asked.version = version;
  asked.lasted = now - asked.first < limit_;
  return asked.lasted;
}

std::vector<Reservation> ReservationsInTheWay(const Pod& pod, const NodeState& node,
                                              std::vector<Reservation> places) {
  if (!node.exists) return {};
  std::erase_if(places,
                [&](const Reservation& place) { return place.pod->node != node.detail->name; });
  std::stable_sort(places.begin(), places.end(), [](const Reservation& a, const Reservation& b) {
    return a.pod->priority < b.pod->priority;
  });
  NodeState without = node;
  for (size_t i = 0; i < places.size(); ++i) {
    without = WithoutPod(without, places[i].pod->uid);
    if (!CheckFit(pod, without).none()) continue;
    places.resize(i + 1);
    return places;
  }
  return {};
}

bool YieldTo(const Pod& pod, const std::vector<Reservation>& places) {
  return std::all_of(places.begin(), places.end(),
                     [&](const Reservation& place) { return place.pod->priority < pod.priority; });
}

}  // namespace synergy
