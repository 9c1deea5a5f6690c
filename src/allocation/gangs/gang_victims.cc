#include "allocation/gangs/gang_victims.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "allocation/preemption.h"
#include "allocation/surplus.h"

namespace synergy {
namespace {

// The maximum number of searches. Each excludes the victims of earlier searches that a budget
// protects.
constexpr int kMostTries = 8;
// With at most this many victims, the search considers all nodes when it tests whether a victim can
// stay. With more victims, it considers only the nodes that the gang uses.
constexpr size_t kFewVictims = 32;

// Pods that are evicted together.
struct Unit {
  std::vector<std::shared_ptr<const Pod>> pods;
  std::vector<NodeIndex> nodes;  // the nodes of the pods
  int32_t priority = 0;          // the highest priority of its pods
  bool broken = false;
  int64_t gpus = 0;
  bool may_leave = true;

  bool IsOn(const std::set<NodeIndex>& places) const {
    return std::any_of(nodes.begin(), nodes.end(),
                       [&places](NodeIndex node) { return places.contains(node); });
  }
};
using Units = std::vector<const Unit*>;

// Removes the pod's amounts, but not the pod itself, because a plan does not depend on which pods
// are on the node.
void Leave(NodeState& node, const Pod& pod) {
  node.requested -= pod.requests.main;
  node.wanted -= pod.PlanningDemand();
  --node.pods;
  if (pod.requests.other.empty()) return;
  auto detail = std::make_shared<NodeDetail>(*node.detail);
  detail->requested.Subtract(pod.requests.other);
  node.detail = std::move(detail);
}

class VictimSearch {
 public:
  VictimSearch(const ClusterSnapshot& snapshot,
               const std::vector<std::shared_ptr<const Pod>>& members, const ReserveRule& reserve,
               const MayGo& may_go, const MayEvict& may_evict, WallTime now)
      : snapshot_(snapshot),
        members_(members),
        reserve_(reserve),
        may_go_(may_go),
        may_evict_(may_evict),
        all_(snapshot.size()) {
    for (const auto& member : members) priority_ = std::min(priority_, member->priority);
    std::iota(all_.begin(), all_.end(), NodeIndex{0});
    nodes_.reserve(snapshot.size());
    for (const NodeIndex node : all_) {
      nodes_.push_back(Soon(snapshot.node(node), now));
      if (!snapshot.node(node).exists) continue;
      for (const auto& pod : snapshot.node(node).detail->pods) {
        if (IsLeaving(*pod)) leaving_.insert(pod->uid);
      }
    }
  }

  std::optional<GangVictims> Search() {
    if (std::vector<NodeIndex> places = Plan({}, all_); !places.empty()) {
      return GangVictims{.pods = {}, .places = std::move(places)};
    }
    const std::vector<Unit> units = CollectUnits();
    Units candidates = InOrder(units);
    for (int tries = 0; tries < kMostTries; ++tries) {
      std::optional<Choice> choice = Least(candidates);
      if (!choice) return std::nullopt;
      const Units violating = AgainstBudgets(choice->victims);
      if (violating.empty()) return Describe(*std::move(choice));
      std::erase_if(candidates, [&violating](const Unit* unit) {
        return std::find(violating.begin(), violating.end(), unit) != violating.end();
      });
    }
    return std::nullopt;
  }

 private:
  // Returns whether the pod is being deleted, or is only a place that is kept for a lower priority.
  bool IsLeaving(const Pod& pod) const {
    return pod.deleting || (pod.waiting != nullptr && pod.priority < priority_);
  }

  // Returns the node without pods that are leaving, and without surplus.
  NodeState Soon(const NodeState& node, WallTime now) const {
    if (!node.exists) return node;
    NodeState state = node;
    for (const auto& pod : node.detail->pods) {
      if (IsLeaving(*pod)) state = WithoutPod(state, *pod);
    }
    return WithoutSurplus(state, now);
  }

  std::vector<Unit> CollectUnits() const {
    std::vector<Unit> units;
    std::map<std::string_view, size_t> gangs;
    for (const NodeIndex node : all_) {
      if (!nodes_[node].exists) continue;
      for (const auto& pod : nodes_[node].detail->pods) {
        // A waiting pod only has a kept, held or expected place here.
        if (pod->waiting || IsOwn(*pod)) continue;
        const bool of_gang = pod->IsOfGang();
        if (!of_gang && !pod->UsesGpus()) continue;
        size_t at = units.size();
        if (of_gang) at = gangs.try_emplace(pod->gang->name, at).first->second;
        if (at == units.size()) units.emplace_back();
        Add(units[at], node, pod);
      }
    }
    for (const auto& [gang, at] : gangs) {
      const size_t size = static_cast<size_t>(units[at].pods.front()->gang->size);
      units[at].broken = units[at].pods.size() < size;
    }
    return units;
  }

  // Returns whether the pod belongs to the gang of the members.
  bool IsOwn(const Pod& pod) const {
    const auto& own = members_.front()->gang;
    return pod.gang && own && pod.gang->name == own->name;
  }

  void Add(Unit& unit, NodeIndex node, const std::shared_ptr<const Pod>& pod) const {
    unit.priority = unit.pods.empty() ? pod->priority : std::max(unit.priority, pod->priority);
    unit.gpus += pod->requests.main.gpus.count();
    unit.may_leave = unit.may_leave && pod->priority < priority_ && may_evict_(*pod);
    unit.nodes.push_back(node);
    unit.pods.push_back(pod);
  }

  // Returns the units that may leave and have GPUs, in the order of eviction.
  static Units InOrder(const std::vector<Unit>& units) {
    Units order;
    for (const Unit& unit : units) {
      if (unit.may_leave && unit.gpus > 0) order.push_back(&unit);
    }
    const auto key = [](const Unit* unit) {
      return std::tuple(unit->priority, !unit->broken, unit->gpus);
    };
    // The sort is stable: equal units stay in the order of their nodes, so that whole nodes become
    // free.
    std::stable_sort(order.begin(), order.end(),
                     [&key](const Unit* a, const Unit* b) { return key(a) < key(b); });
    return order;
  }

  // Returns the places of the members once the units have left; empty if they do not all fit.
  std::vector<NodeIndex> Plan(std::span<const Unit* const> leaving,
                              std::span<const NodeIndex> among) const {
    std::map<NodeIndex, NodeState> changed;
    std::set<std::string> uids = leaving_;
    for (const Unit* unit : leaving) {
      for (const auto& pod : unit->pods) uids.insert(pod->uid);
      for (size_t i = 0; i < unit->pods.size(); ++i) {
        const NodeIndex node = unit->nodes[i];
        Leave(changed.try_emplace(node, nodes_[node]).first->second, *unit->pods[i]);
      }
    }
    const auto as_if = [&](NodeIndex node) {
      const auto found = changed.find(node);
      return found == changed.end() ? nodes_[node] : found->second;
    };
    return PlanGangAsIf(snapshot_, members_, reserve_, may_go_, among, as_if, uids).places;
  }

  struct Choice {
    Units victims;
    std::vector<NodeIndex> places;
  };
  // Chooses the shortest sufficient prefix of the candidates, and from it only those units on the
  // gang's nodes that must leave. Returns nullopt if even all candidates are not enough.
  std::optional<Choice> Least(std::span<const Unit* const> candidates) const {
    Choice choice;
    choice.places = Plan(candidates, all_);
    if (choice.places.empty()) return std::nullopt;
    size_t too_few = 0;  // this many candidates are not enough
    size_t enough = candidates.size();
    while (enough - too_few > 1) {
      const size_t middle = too_few + (enough - too_few) / 2;
      std::vector<NodeIndex> places = Plan(candidates.first(middle), all_);
      (places.empty() ? too_few : enough) = middle;
      if (!places.empty()) choice.places = std::move(places);
    }
    const std::set<NodeIndex> used(choice.places.begin(), choice.places.end());
    for (const Unit* unit : candidates.first(enough)) {
      if (unit->IsOn(used)) choice.victims.push_back(unit);
    }
    Reprieve(choice);
    return choice;
  }

  void Reprieve(Choice& choice) const {
    const std::set<NodeIndex> used(choice.places.begin(), choice.places.end());
    const std::vector<NodeIndex> among =
        choice.victims.size() <= kFewVictims ? all_ : std::vector(used.begin(), used.end());
    for (size_t i = choice.victims.size(); i-- > 0;) {
      Units fewer = choice.victims;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      std::vector<NodeIndex> places = Plan(fewer, among);
      if (!places.empty()) choice = {std::move(fewer), std::move(places)};
    }
  }

  Units AgainstBudgets(const Units& victims) const {
    std::vector<std::shared_ptr<const Pod>> pods;
    Units unit_of;
    for (const Unit* unit : victims) {
      pods.insert(pods.end(), unit->pods.begin(), unit->pods.end());
      unit_of.resize(pods.size(), unit);
    }
    std::vector<bool> violating;
    CountBudgetViolations(snapshot_.disruption_budgets(), pods, violating);
    Units against;
    for (size_t i = 0; i < pods.size(); ++i) {
      if (violating[i] && (against.empty() || against.back() != unit_of[i]))
        against.push_back(unit_of[i]);
    }
    return against;
  }

  static GangVictims Describe(Choice choice) {
    GangVictims described;
    for (const Unit* unit : choice.victims) {
      described.pods.insert(described.pods.end(), unit->pods.begin(), unit->pods.end());
    }
    described.places = std::move(choice.places);
    return described;
  }

  const ClusterSnapshot& snapshot_;
  const std::vector<std::shared_ptr<const Pod>>& members_;
  const ReserveRule& reserve_;
  const MayGo& may_go_;
  const MayEvict& may_evict_;
  std::vector<NodeIndex> all_;
  std::vector<NodeState> nodes_;   // as Soon() returns them
  std::set<std::string> leaving_;  // UIDs
  int32_t priority_ = std::numeric_limits<int32_t>::max();
};

}  // namespace

std::optional<GangVictims> SelectGangVictims(const ClusterSnapshot& snapshot,
                                             const std::vector<std::shared_ptr<const Pod>>& members,
                                             const ReserveRule& reserve, const MayGo& may_go,
                                             const MayEvict& may_evict, WallTime now) {
  return VictimSearch(snapshot, members, reserve, may_go, may_evict, now).Search();
}

}  // namespace synergy
