#include "engine/tuner/re_dividing.h"

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
#include "engine/tuner/division_sites.h"
#include "engine/tuner/pod_changes.h"

namespace synergy {
namespace {

// After this number of actions a decision leaves the other nodes to the next one, so that what
// follows from these actions, and pods that begin to wait meanwhile, go first.
constexpr size_t kManyActions = 16;
// With this number of actions requested and not done, nothing more is divided: a decision made now
// would be out of date when its turn comes.
constexpr size_t kManyAsked = 64;

// The value of a division, and whether it begins with cuts.
struct Gain {
  bool worth_it = false;
  bool cuts = false;
};

Gain GainOf(const std::vector<Tenant>& tenants, const std::vector<ResourceVector>& amounts,
            double least_gain) {
  const std::vector<double> had = ThroughputsOf(tenants, CurrentOf(tenants));
  const std::vector<double> has = ThroughputsOf(tenants, amounts);
  double before = 0;
  double after = 0;
  bool one_gains = false;
  Gain gain;
  for (size_t i = 0; i < amounts.size(); ++i) {
    before += had[i];
    after += has[i];
    one_gains |= has[i] >= had[i] * (1 + least_gain) && has[i] > had[i];
    gain.cuts |= LargerOf(amounts[i], tenants[i].current) != amounts[i];
  }
  gain.worth_it = after > before && (one_gains || after >= before * (1 + least_gain));
  return gain;
}

// Whether no change is worth it even if every tenant got all that it has a use for. Spares most
// nodes of a settled cluster the search.
bool NothingToGain(const std::vector<Tenant>& tenants, double least_gain) {
  std::vector<ResourceVector> amounts;
  amounts.reserve(tenants.size());
  for (const Tenant& tenant : tenants) amounts.push_back(LargerOf(tenant.current, tenant.most));
  const std::vector<double> had = ThroughputsOf(tenants, CurrentOf(tenants));
  const std::vector<double> best = ThroughputsOf(tenants, amounts);
  double before = 0;
  double most = 0;
  for (size_t i = 0; i < tenants.size(); ++i) {
    if (best[i] >= had[i] * (1 + least_gain) && best[i] > had[i]) return false;
    before += had[i];
    most += best[i];
  }
  return most <= before || most < before * (1 + least_gain);
}

void Tell(Turn& turn, const NodeState& node) {
  for (const auto& pod : node.detail->pods) {
    std::optional<TunerAction> tell =
        WhatToTell(pod, node.detail->labels, turn.profiles, turn.at.wall);
    if (!tell) continue;
    const std::string key =
        fmt::format("{} {} {}", pod->uid, ToString(tell->respected), tell->message);
    if (turn.memory.told.insert(key).second) turn.Do(*std::move(tell));
  }
}

// Nodes with changes under way or kept places. They are divided when these end, which brings the
// tuner back to them.
class BusyNodes {
 public:
  explicit BusyNodes(const TunerMemory& memory) {
    for (const auto& [uid, change] : memory.changes) {
      waited_for_.insert(change.node);
      const ChangeKind kind = change.record.kind;
      if (kind == ChangeKind::kDivided || kind == ChangeKind::kGrown) dividing_.insert(change.node);
    }
    for (const auto& [uid, place] : memory.places) waited_for_.insert(place.node);
    for (const auto& [uid, asked] : memory.asked) asked_.insert(asked.node);
  }
  bool WaitsForEnd(const std::string& node) const { return waited_for_.contains(node); }
  // Whether actions there have no outcome yet. Only the memory gets the outcome.
  bool WaitsForOutcome(const std::string& node) const { return asked_.contains(node); }
  NodeUse UseOf(const std::string& node) const {
    if (dividing_.contains(node) || asked_.contains(node)) return NodeUse::kDividing;
    return waited_for_.contains(node) ? NodeUse::kBusy : NodeUse::kIdle;
  }
  // `node` outlives this.
  void AddChanged(const std::string& node) {
    waited_for_.insert(node);
    dividing_.insert(node);
  }

 private:
  std::unordered_set<std::string_view> waited_for_;
  std::unordered_set<std::string_view> dividing_;
  std::unordered_set<std::string_view> asked_;
};

// State of nodes and gangs during one decision.
struct Pass {
  BusyNodes busy;
  std::set<std::string> settled_gangs;  // nothing to gain from changing these
};

// Whether this decision has made enough actions, so that the rest is left to the next ones.
bool HasEnough(const Turn& turn) {
  return turn.decision.actions.size() >= kManyActions ||
         turn.memory.actions_asked + turn.decision.actions.size() >= kManyAsked;
}

// New amounts of the tenants of all sites.
struct NewAmounts {
  std::vector<ResourceVector> amounts;
  bool cuts = false;    // it begins with cuts
  bool levels = false;  // only makes the members of gangs equal
};

// Whether the difference is too small to change for equality's sake: amounts of members with
// unequal GPUs are rounded.
bool IsAboutTheSame(const std::vector<ResourceVector>& a, const std::vector<ResourceVector>& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if ((a[i].cpu - b[i].cpu).count() > a[i].cpu.count() / 100) return false;
    if ((a[i].memory - b[i].memory).count() > a[i].memory.count() / 100) return false;
  }
  return true;
}

// Returns nullopt if no change is worth it.
std::optional<NewAmounts> AmountsFor(const DivisionSites& sites, const TunerSettings& settings) {
  const std::vector<Tenant> tenants = sites.Tenants();
  if (!NothingToGain(tenants, settings.least_gain)) {
    NewAmounts regrown{.amounts = sites.Regrown(settings.headroom)};
    const Gain gain = GainOf(tenants, regrown.amounts, settings.least_gain);
    regrown.cuts = gain.cuts;
    if (gain.worth_it) return regrown;
  }
  if (sites.gangs.empty()) return std::nullopt;
  NewAmounts levelled{.amounts = sites.Levelled(), .cuts = true, .levels = true};
  if (IsAboutTheSame(CurrentOf(tenants), levelled.amounts)) return std::nullopt;
  return levelled;
}

void Divide(Turn& turn, const DivisionSites& sites, const NewAmounts& planned, Pass& pass) {
  const std::vector<Tenant> tenants = sites.Tenants();
  const std::vector<double> had = ThroughputsOf(tenants, CurrentOf(tenants));
  const std::vector<double> has = ThroughputsOf(tenants, planned.amounts);
  size_t at = 0;
  for (const auto& [node, tenancy] : sites.sites) {
    const std::string& name = node->detail->name;
    for (size_t i = 0; i < tenancy.tenants.size(); ++i, ++at) {
      const Tenant& tenant = tenancy.tenants[i];
      const ResourceVector& amounts = planned.amounts[at];
      if (amounts == tenant.current) continue;
      pass.busy.AddChanged(name);
      if (planned.cuts) {
        // The growth follows once the cuts are in force.
        const ResourceVector less = LesserOf(amounts, tenant.current);
        if (less == tenant.current) continue;
        Cut(turn, tenancy.pods[i], less, ChangeKind::kDivided,
            planned.levels ? fmt::format("of no use to gang {}: another member has no more",
                                         tenancy.pods[i]->gang->name)
                           : fmt::format("more useful to other pods on node {}", name));
        continue;
      }
      // Other pods of its namespace may have begun to grow in this decision.
      ResourceVector to = LesserOf(amounts, MostAllowed(*tenancy.pods[i], turn.rules()));
      to.cpu = std::max(tenant.Step(to.cpu), tenant.current.cpu);
      if (to == tenant.current) continue;
      const double faster = tenant.gang
                                ? has[at] / std::max(had[at], 1e-9)
                                : NormalizedThroughput(tenant, to) / std::max(had[at], 1e-9);
      Grow(turn, tenancy.pods[i], to,
           fmt::format("spare on node {}; {}{:.0f} % faster", name,
                       tenant.gang ? fmt::format("gang {} is ", tenancy.pods[i]->gang->name) : "",
                       (faster - 1) * 100));
    }
  }
}

void DivideNode(Turn& turn, const NodeState& node, Pass& pass) {
  const std::string& name = node.detail->name;
  if (pass.busy.WaitsForEnd(name)) return;
  if (pass.busy.WaitsForOutcome(name)) {
    turn.memory.held_up.insert(name);
    return;
  }
  const TenancyRules rules = turn.rules();
  const DivisionSites sites =
      SitesOf(turn.cluster, node, rules, pass.settled_gangs,
              [&pass](const std::string& other) { return pass.busy.UseOf(other); });
  if (sites.has_to_wait) {
    turn.memory.touched.insert(name);
    return;
  }
  Tell(turn, node);
  if (const auto next = NextChange(node, rules)) {
    turn.memory.due[name] = *next;
    turn.WakeAt(*next);
  }
  // The remainder of a quota may change without any change of the node.
  if (sites.sites.front().tenancy.held_by_limits || sites.has_incomplete_gang) {
    turn.memory.divided.erase(name);
  } else {
    turn.memory.divided[name] = turn.cluster.version();
  }
  if (const auto planned = AmountsFor(sites, turn.settings)) {
    Divide(turn, sites, *planned, pass);
  } else {
    pass.settled_gangs.insert(sites.gangs.begin(), sites.gangs.end());
  }
}

// Returns the nodes to divide now, besides those of a round.
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

// Divides all nodes that have changed since there was nothing to gain there.
void DivideAll(Turn& turn, Pass& pass) {
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
      DivideNode(turn, node, pass);
    }
  }
}

// Drops entries that have expired.
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
    // Changes that time alone has caused are noticed here at the latest.
    LookAnew(memory);
    Forget(turn);
    TakeOverUnfinished(turn);
  }
  turn.WakeAt(memory.next_round);
  if (!round && nodes.empty()) return;
  Pass pass{.busy = BusyNodes(memory), .settled_gangs = {}};
  if (round) DivideAll(turn, pass);
  while (!nodes.empty() && !HasEnough(turn)) {
    const std::string name = std::move(nodes.extract(nodes.begin()).value());
    const auto index = turn.cluster.Find(name);
    if (!index) continue;
    const NodeState& node = turn.cluster.node(*index);
    if (node.exists && node.allocatable.gpus > Gpus(0)) DivideNode(turn, node, pass);
  }
  memory.touched.merge(nodes);
  // Otherwise the outcomes of the actions bring the tuner back.
  if (!memory.touched.empty() && turn.decision.actions.size() >= kManyActions) {
    turn.WakeAt(turn.at.now);
  }
}

}  // namespace synergy
