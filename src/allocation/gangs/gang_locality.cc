#include "allocation/gangs/gang_locality.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "cluster/labels.h"

namespace synergy {
namespace {

// The nodes of each rack by the rack's name.
using Racks = std::map<std::string_view, std::vector<NodeIndex>>;

std::string_view RackOf(const ClusterSnapshot& snapshot, NodeIndex node, const std::string& label) {
  if (label.empty() || !snapshot.node(node).exists) return {};
  return FindLabel(snapshot.node(node).detail->labels, label).value_or("");
}

Racks RacksOf(const ClusterSnapshot& snapshot, const std::string& label) {
  Racks racks;
  for (NodeIndex node = 0; node < snapshot.size(); ++node) {
    const std::string_view rack = RackOf(snapshot, node, label);
    if (!rack.empty()) racks[rack].push_back(node);
  }
  return racks;
}

bool OnOneNode(const std::vector<NodeIndex>& places) {
  return !places.empty() &&
         std::all_of(places.begin(), places.end(), [&](NodeIndex at) { return at == places[0]; });
}

size_t NodesIn(const std::vector<NodeIndex>& places) {
  return std::set<NodeIndex>(places.begin(), places.end()).size();
}

class LocalPlanner {
 public:
  LocalPlanner(const ClusterSnapshot& snapshot,
               const std::vector<std::shared_ptr<const Pod>>& members, const ReserveRule& reserve,
               const GangTerms& terms, const LocalityRules& rules, const std::set<std::string>& but)
      : snapshot_(snapshot),
        members_(members),
        reserve_(reserve),
        terms_(terms),
        rules_(rules),
        but_(but) {}

  LocalPlan Plan(const LocalityWaits& waits, Duration waited) {
    GangPlan anywhere = PlanGang(snapshot_, members_, reserve_, terms_, but_);
    // Without room anywhere, the gang waits for room, not for locality.
    if (anywhere.places.empty()) return {.plan = std::move(anywhere), .waits_until = {}};
    Duration ends{};
    if (waits.node > Duration::zero()) {
      if (OnOneNode(anywhere.places)) return {std::move(anywhere), SpreadTier::kNode, {}};
      if (SomeNodeHoldsAll()) {
        ends += waits.node;
        if (waited < ends) return WaitsFor(SpreadTier::kNode, ends);
      }
    }
    if (waits.rack > Duration::zero() && !racks().empty()) {
      if (GangPlan in_rack = PlanInARack(); !in_rack.places.empty()) {
        const SpreadTier tier = OnOneNode(in_rack.places) ? SpreadTier::kNode : SpreadTier::kRack;
        return {std::move(in_rack), tier, {}};
      }
      if (SomeRackHoldsAll()) {
        ends += waits.rack;
        if (waited < ends) return WaitsFor(SpreadTier::kRack, ends);
      }
    }
    return Placed(std::move(anywhere));
  }

  LocalPlan PlanBeside(std::span<const NodeIndex> beside) {
    // `beside` repeats a node for each member that runs on it.
    const std::set<NodeIndex> once(beside.begin(), beside.end());
    const std::vector<NodeIndex> nodes(once.begin(), once.end());
    GangPlan plan = PlanGangAmong(snapshot_, members_, reserve_, terms_, nodes, but_);
    if (plan.places.empty()) {
      std::vector<NodeIndex> near;
      std::set<std::string_view> wanted;
      for (const NodeIndex node : nodes) wanted.insert(RackOf(snapshot_, node, rules_.rack_label));
      for (const auto& [rack, in_rack] : racks()) {
        if (wanted.contains(rack)) near.insert(near.end(), in_rack.begin(), in_rack.end());
      }
      if (!near.empty()) plan = PlanGangAmong(snapshot_, members_, reserve_, terms_, near, but_);
    }
    if (plan.places.empty()) plan = PlanGang(snapshot_, members_, reserve_, terms_, but_);
    if (plan.places.empty()) return {.plan = std::move(plan), .waits_until = {}};
    std::vector<NodeIndex> all(beside.begin(), beside.end());
    all.insert(all.end(), plan.places.begin(), plan.places.end());
    const SpreadTier tier = TierOf(snapshot_, all, rules_.rack_label);
    return {std::move(plan), tier, {}};
  }

 private:
  const Racks& racks() {
    if (!racks_) racks_ = RacksOf(snapshot_, rules_.rack_label);
    return *racks_;
  }

  static LocalPlan WaitsFor(SpreadTier tier, Duration until) {
    return {.plan = {}, .tier = tier, .waits_until = until};
  }

  LocalPlan Placed(GangPlan plan) const {
    const SpreadTier tier = TierOf(snapshot_, plan.places, rules_.rack_label);
    return {std::move(plan), tier, {}};
  }

  // Chooses the rack in which the gang needs the fewest nodes and, among equals, the one with the
  // fewest free GPUs, so that the other racks stay whole.
  GangPlan PlanInARack() {
    GangPlan best;
    std::tuple<size_t, int64_t> best_key;
    for (const auto& [rack, nodes] : racks()) {
      GangPlan plan = PlanGangAmong(snapshot_, members_, reserve_, terms_, nodes, but_);
      if (plan.places.empty()) continue;
      int64_t free = 0;
      for (const NodeIndex node : nodes) free += snapshot_.node(node).Free().gpus.count();
      const std::tuple key(NodesIn(plan.places), free);
      if (!best.places.empty() && best_key <= key) continue;
      best = std::move(plan);
      best_key = key;
    }
    return best;
  }

  // Returns whether an empty node could hold all members.
  bool SomeNodeHoldsAll() const {
    for (NodeIndex node = 0; node < snapshot_.size(); ++node) {
      if (Holds(std::span(&node, 1))) return true;
    }
    return false;
  }
  bool SomeRackHoldsAll() {
    return std::any_of(racks().begin(), racks().end(),
                       [this](const auto& rack) { return Holds(rack.second); });
  }
  bool Holds(std::span<const NodeIndex> nodes) const {
    Gpus needed;
    Gpus has;
    for (const auto& member : members_) needed += member->requests.main.gpus;
    for (const NodeIndex node : nodes) has += snapshot_.node(node).allocatable.gpus;
    if (has < needed) return false;
    return !PlanGangOnEmpty(snapshot_, members_, reserve_, terms_, nodes).places.empty();
  }

  const ClusterSnapshot& snapshot_;
  const std::vector<std::shared_ptr<const Pod>>& members_;
  const ReserveRule& reserve_;
  const GangTerms& terms_;
  const LocalityRules& rules_;
  const std::set<std::string>& but_;
  std::optional<Racks> racks_;
};

}  // namespace

std::string_view ToString(SpreadTier tier) {
  switch (tier) {
    case SpreadTier::kNode:
      return "node";
    case SpreadTier::kRack:
      return "rack";
    case SpreadTier::kAnywhere:
      return "anywhere";
  }
  return "unknown";
}

LocalityWaits WaitsOf(const LocalityRules& rules, const SpreadCost& cost) {
  LocalityWaits waits{rules.node_wait, rules.rack_wait};
  if (cost.nodes) {
    if (*cost.nodes >= rules.least_speed) waits.node = {};
    // Relative to the speed within a rack.
    if (cost.racks.value_or(*cost.nodes) >= rules.least_speed * *cost.nodes) waits.rack = {};
  } else if (cost.tensor_skew && *cost.tensor_skew <= rules.most_skew) {
    waits = {};
  }
  return waits;
}

LocalPlan PlanGangLocally(const ClusterSnapshot& snapshot,
                          const std::vector<std::shared_ptr<const Pod>>& members,
                          const ReserveRule& reserve, const GangTerms& terms,
                          const LocalityRules& rules, const SpreadCost& cost, Duration waited,
                          std::span<const NodeIndex> beside, const std::set<std::string>& but) {
  const LocalityWaits waits = WaitsOf(rules, cost);
  LocalPlanner planner(snapshot, members, reserve, terms, rules, but);
  const bool is_indifferent = waits == LocalityWaits{};
  if (!beside.empty() && !is_indifferent) return planner.PlanBeside(beside);
  return planner.Plan(waits, waited);
}

SpreadTier TierOf(const ClusterSnapshot& snapshot, std::span<const NodeIndex> nodes,
                  const std::string& rack_label) {
  if (nodes.empty()) return SpreadTier::kAnywhere;
  if (std::all_of(nodes.begin(), nodes.end(), [&](NodeIndex node) { return node == nodes[0]; })) {
    return SpreadTier::kNode;
  }
  const std::string_view rack = RackOf(snapshot, nodes[0], rack_label);
  const bool in_one = !rack.empty() && std::all_of(nodes.begin(), nodes.end(), [&](NodeIndex node) {
    return RackOf(snapshot, node, rack_label) == rack;
  });
  return in_one ? SpreadTier::kRack : SpreadTier::kAnywhere;
}

}  // namespace synergy
