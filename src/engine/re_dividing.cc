#include "engine/re_dividing.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "allocation/surplus.h"
#include "engine/pod_changes.h"

namespace synergy {
namespace {

// Actions of one decision after which the other nodes are left to the next: what follows from
// these, and who has begun to wait meanwhile, goes first.
constexpr size_t kManyActions = 16;
// Actions that are asked for and not done yet, after which nothing more is divided: what would be
// decided now would be old when its turn comes.
constexpr size_t kManyAsked = 64;

// What a division is worth, and whether it begins with cuts.
struct Gain {
  bool worth_it = false;
  bool cuts = false;
};

Gain GainOf(const std::vector<Tenant>& tenants, const std::vector<ResourceVector>& amounts,
            double least_gain) {
  double before = 0;
  double after = 0;
  bool one_gains = false;
  Gain gain;
  for (size_t i = 0; i < amounts.size(); ++i) {
    const double had = NormalizedThroughput(tenants[i], tenants[i].current);
    const double has = NormalizedThroughput(tenants[i], amounts[i]);
    before += had;
    after += has;
    one_gains |= has >= had * (1 + least_gain);
    gain.cuts |= LargerOf(amounts[i], tenants[i].current) != amounts[i];
  }
  gain.worth_it = after > before && (one_gains || after >= before * (1 + least_gain));
  return gain;
}

// Whether even all that each of them has a use for would not be worth a change. Spares most nodes
// of a settled cluster the search.
bool NothingToGain(const std::vector<Tenant>& tenants, double least_gain) {
  double before = 0;
  double most = 0;
  for (const Tenant& tenant : tenants) {
    const double had = NormalizedThroughput(tenant, tenant.current);
    const double best = NormalizedThroughput(tenant, LargerOf(tenant.current, tenant.most));
    if (best >= had * (1 + least_gain) && best > had) return false;
    before += had;
    most += best;
  }
  return most <= before || most < before * (1 + least_gain);
}

void Tell(Turn& turn, const NodeState& node) {
  for (const auto& pod : node.detail->pods) {
    std::optional<TunerAction> tell = WhatToTell(pod, turn.profiles);
    if (!tell) continue;
    const std::string key =
        fmt::format("{} {} {}", pod->uid, ToString(tell->respected), tell->message);
    if (turn.memory.told.insert(key).second) turn.Do(*std::move(tell));
  }
}

// What is under way, and whoever is expected, is waited for: its end brings us back to the node.
class BusyNodes {
 public:
  explicit BusyNodes(const TunerMemory& memory) {
    for (const auto& [uid, change] : memory.changes) waited_for_.insert(change.node);
    for (const auto& [uid, place] : memory.places) waited_for_.insert(place.node);
    for (const auto& [uid, asked] : memory.asked) asked_.insert(asked.node);
  }
  bool WaitsForEnd(const std::string& node) const { return waited_for_.contains(node); }
  // Of actions, which is told to the memory alone.
  bool WaitsForOutcome(const std::string& node) const { return asked_.contains(node); }
  // `node` outlives this.
  void AddChanged(const std::string& node) { waited_for_.insert(node); }

 private:
  std::unordered_set<std::string_view> waited_for_;
  std::unordered_set<std::string_view> asked_;
};

// Whether this decision has come to its end, and the rest is left to the next ones.
bool HasEnough(const Turn& turn) {
  return turn.decision.actions.size() >= kManyActions ||
         turn.memory.actions_asked + turn.decision.actions.size() >= kManyAsked;
}

void DivideNode(Turn& turn, const NodeState& node, BusyNodes& busy) {
  const std::string& name = node.detail->name;
  if (busy.WaitsForEnd(name)) return;
  if (busy.WaitsForOutcome(name)) {
    turn.memory.held_up.insert(name);
    return;
  }
  Tell(turn, node);
  if (const auto next = NextChange(node, turn.rules())) {
    turn.memory.due[name] = *next;
    turn.WakeAt(*next);
  }
  const Tenancy tenancy = TenancyOf(node, TenancyUse::kDivide, turn.rules());
  // What a quota leaves changes without any change of the node.
  if (tenancy.held_by_limits) {
    turn.memory.divided.erase(name);
  } else {
    turn.memory.divided[name] = turn.cluster.version();
  }
  if (NothingToGain(tenancy.tenants, turn.settings.least_gain)) return;
  const std::vector<ResourceVector> amounts =
      Regrow(tenancy.tenants, WithNominated(node).Free() - turn.settings.headroom);
  const Gain gain = GainOf(tenancy.tenants, amounts, turn.settings.least_gain);
  if (!gain.worth_it) return;
  busy.AddChanged(name);
  for (size_t i = 0; i < amounts.size(); ++i) {
    const Tenant& tenant = tenancy.tenants[i];
    if (amounts[i] == tenant.current) continue;
    if (gain.cuts) {
      // Growth comes when the cuts are in force.
      const ResourceVector less = LesserOf(amounts[i], tenant.current);
      if (less == tenant.current) continue;
      Cut(turn, tenancy.pods[i], less, ChangeKind::kDivided,
          fmt::format("worth more to others on node {}", name));
      continue;
    }
    // Others of its namespace may have begun to grow in this decision.
    ResourceVector to = LesserOf(amounts[i], MostAllowed(*tenancy.pods[i], turn.rules()));
    to.cpu = std::max(tenant.Step(to.cpu), tenant.current.cpu);
    if (to == tenant.current) continue;
    const double faster = NormalizedThroughput(tenant, to) /
                          std::max(NormalizedThroughput(tenant, tenant.current), 1e-9);
    Grow(turn, tenancy.pods[i], to,
         fmt::format("spare on node {}; {:.0f} % faster", name, (faster - 1) * 100));
  }
}

// Nodes that are to be divided now, besides those of a round.
std::set<std::string> TakeDue(Turn& turn) {
  std::set<std::string> nodes = std::exchange(turn.memory.touched, {});
  for (auto next = turn.memory.due.begin(); next != turn.memory.due.end();) {
    if (next->second > turn.at.now) {
      turn.WakeAt(next->second);
      ++next;
      continue;
    }
    nodes.insert(next->first);
    next = turn.memory.due.erase(next);
  }
  return nodes;
}

// All nodes that have changed since nothing was to be gained there.
void DivideAll(Turn& turn, BusyNodes& busy) {
  TunerMemory& memory = turn.memory;
  if (memory.divided_by != turn.profiles.version()) memory.divided.clear();
  memory.divided_by = turn.profiles.version();
  for (NodeIndex index = 0; index < turn.cluster.size(); ++index) {
    const NodeState& node = turn.cluster.node(index);
    if (!node.exists || node.allocatable.gpus == Gpus(0)) continue;
    const auto divided = memory.divided.find(node.detail->name);
    if (divided != memory.divided.end() && node.changed <= divided->second) continue;
    if (HasEnough(turn)) {
      memory.touched.insert(node.detail->name);
    } else {
      DivideNode(turn, node, busy);
    }
  }
}

// What time has made invalid.
void Forget(Turn& turn) {
  std::erase_if(turn.memory.infeasible, [&turn](const auto& entry) {
    const auto node = turn.cluster.Find(entry.first.node);
    return entry.second.until <= turn.at.now || !node || !turn.cluster.node(*node).exists;
  });
}

}  // namespace

void DivideNodes(Turn& turn) {
  TunerMemory& memory = turn.memory;
  std::set<std::string> nodes = TakeDue(turn);
  const bool round = turn.at.now >= memory.next_round;
  if (round) {
    memory.next_round = turn.at.now + turn.settings.round;
    turn.decision.round = true;
    // What time alone has changed is seen now at the latest.
    LookAnew(memory);
    Forget(turn);
    TakeOverUnfinished(turn);
  }
  turn.WakeAt(memory.next_round);
  if (!round && nodes.empty()) return;
  BusyNodes busy(memory);
  if (round) DivideAll(turn, busy);
  while (!nodes.empty() && !HasEnough(turn)) {
    const std::string name = std::move(nodes.extract(nodes.begin()).value());
    const auto index = turn.cluster.Find(name);
    if (!index) continue;
    const NodeState& node = turn.cluster.node(*index);
    if (node.exists && node.allocatable.gpus > Gpus(0)) DivideNode(turn, node, busy);
  }
  memory.touched.merge(nodes);
  // Else what comes of the actions brings us back.
  if (!memory.touched.empty() && turn.decision.actions.size() >= kManyActions) {
    turn.WakeAt(turn.at.now);
  }
}

}  // namespace synergy
