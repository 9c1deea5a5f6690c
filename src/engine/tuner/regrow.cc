#include "engine/tuner/regrow.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "allocation/storage/storage_left.h"
#include "allocation/surplus.h"
#include "engine/tuner/division_sites.h"
#include "engine/tuner/resizes.h"

namespace synergy {
namespace {

// After this many actions a decision leaves the other nodes to the next decision, so that follow-up
// actions, and pods that begin to wait meanwhile, come first.
constexpr size_t kManyActions = 16;
// With this many requested actions unfinished, nothing more is divided, because a decision made now
// would be outdated when it is carried out.
constexpr size_t kManyAsked = 64;

// The value of a division, and whether it begins with cuts.
struct Gain {
  bool worth_it = false;
  bool cuts = false;
};

Gain GainOf(const std::vector<PodShare>& shares, const std::vector<ResourceVector>& amounts,
            double least_gain) {
  const std::vector<double> had = ThroughputsTogether(shares, CurrentOf(shares));
  const std::vector<double> has = ThroughputsTogether(shares, amounts);
  double before = 0;
  double after = 0;
  bool one_gains = false;
  Gain gain;
  for (size_t i = 0; i < amounts.size(); ++i) {
    before += had[i];
    after += has[i];
    one_gains |= has[i] >= had[i] * (1 + least_gain) && has[i] > had[i];
    gain.cuts |= LargerOf(amounts[i], shares[i].current) != amounts[i];
  }
  gain.worth_it = after > before && (one_gains || after >= before * (1 + least_gain));
  return gain;
}

// Returns whether no change is worthwhile even if every share got all that it can use, and the
// storage to itself. Avoids the search on most nodes of a settled cluster.
bool NothingToGain(const std::vector<PodShare>& shares, double least_gain) {
  std::vector<ResourceVector> amounts;
  amounts.reserve(shares.size());
  for (const PodShare& share : shares) amounts.push_back(LargerOf(share.current, share.most));
  const std::vector<double> had = ThroughputsTogether(shares, CurrentOf(shares));
  const std::vector<double> best = ThroughputsOf(AloneOnStorage(shares), amounts);
  double before = 0;
  double most = 0;
  for (size_t i = 0; i < shares.size(); ++i) {
    if (best[i] >= had[i] * (1 + least_gain) && best[i] > had[i]) return false;
    before += had[i];
    most += best[i];
  }
  return most <= before || most < before * (1 + least_gain);
}

void SendNotices(TunerPass& pass, const NodeState& node) {
  for (const auto& pod : node.detail->pods) {
    std::optional<tuner_action::Notify> notice = NoticeFor(*pod, node, pass.profiles, pass.at.wall);
    if (!notice) continue;
    std::string text = fmt::format("{} {}", ToString(notice->reason), notice->message);
    if (pass.memory.notified[pod->uid].insert(std::move(text)).second)
      pass.Do({pod, *std::move(notice)});
  }
}

// Nodes that cannot be divided now: nodes with changes in progress or kept places, and nodes that
// are prepared for a reservation. When such a state ends, the tuner looks at the node again.
class BusyNodes {
 public:
  explicit BusyNodes(const TunerMemory& memory) {
    for (const auto& [uid, change] : memory.changes) {
      waited_for_.insert(change.node);
      const ChangeKind kind = change.record.kind;
      if (kind == ChangeKind::kDivided || kind == ChangeKind::kGrown) dividing_.insert(change.node);
    }
    for (const auto& [uid, place] : memory.places) waited_for_.insert(place.node);
    for (const auto& [node, prepared] : memory.prepared) {
      if (!prepared.is_over) waited_for_.insert(node);
    }
    for (const auto& [uid, asked] : memory.asked) asked_.insert(asked.node);
  }
  bool WaitsForEnd(const std::string& node) const { return waited_for_.contains(node); }
  // Returns whether actions there have no outcome yet. The outcome changes only the tuner's memory,
  // not the cluster.
  bool WaitsForOutcome(const std::string& node) const { return asked_.contains(node); }
  NodeUse UseOf(const std::string& node) const {
    if (dividing_.contains(node) || asked_.contains(node)) return NodeUse::kDividing;
    return waited_for_.contains(node) ? NodeUse::kBusy : NodeUse::kIdle;
  }
  // `node` must outlive this object.
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
struct Division {
  BusyNodes busy;
  std::set<std::string> settled_gangs;  // gangs for which no change gains anything
};

// Returns whether this decision has requested enough actions, so that later decisions handle the
// rest.
bool HasEnough(const TunerPass& pass) {
  return pass.plan.actions.size() >= kManyActions ||
         pass.memory.actions_asked + pass.plan.actions.size() >= kManyAsked;
}

// The new amounts of the shares of all sites.
struct NewAmounts {
  std::vector<ResourceVector> amounts;
  bool cuts = false;    // the change begins with cuts
  bool levels = false;  // the change only makes the members of gangs equal
};

// Returns whether no amount in `b` is more than 1 % below that in `a`. Rounding for members with
// unequal GPUs causes such differences, which are not worth a change.
bool IsAboutTheSame(const std::vector<ResourceVector>& a, const std::vector<ResourceVector>& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if ((a[i].cpu - b[i].cpu).count() > a[i].cpu.count() / 100) return false;
    if ((a[i].memory - b[i].memory).count() > a[i].memory.count() / 100) return false;
  }
  return true;
}

// Returns nullopt if no change is worthwhile.
std::optional<NewAmounts> AmountsFor(const DivisionSites& sites, const TunerSettings& settings) {
  const std::vector<PodShare> shares = sites.Shares();
  if (!NothingToGain(shares, settings.least_gain)) {
    NewAmounts regrown{.amounts = sites.Regrown(settings.headroom)};
    const Gain gain = GainOf(shares, regrown.amounts, settings.least_gain);
    regrown.cuts = gain.cuts;
    if (gain.worth_it) return regrown;
  }
  if (sites.gangs.empty()) return std::nullopt;
  NewAmounts levelled{.amounts = sites.Levelled(), .cuts = true, .levels = true};
  if (IsAboutTheSame(CurrentOf(shares), levelled.amounts)) return std::nullopt;
  return levelled;
}

void Divide(TunerPass& pass, const DivisionSites& sites, const NewAmounts& planned,
            Division& division) {
  const std::vector<PodShare> shares = sites.Shares();
  const std::vector<double> had = ThroughputsTogether(shares, CurrentOf(shares));
  const std::vector<double> has = ThroughputsTogether(shares, planned.amounts);
  size_t at = 0;
  for (const auto& [node, node_shares] : sites.sites) {
    const std::string& name = node->detail->name;
    for (size_t i = 0; i < node_shares.shares.size(); ++i, ++at) {
      const PodShare& share = node_shares.shares[i];
      const ResourceVector& amounts = planned.amounts[at];
      if (amounts == share.current) continue;
      division.busy.AddChanged(name);
      if (planned.cuts) {
        // The growth follows once the cuts are in force.
        const ResourceVector less = LesserOf(amounts, share.current);
        if (less == share.current) continue;
        Cut(pass, node_shares.pods[i], less, ChangeKind::kDivided,
            planned.levels ? fmt::format("of no use to gang {}: another member has no more",
                                         node_shares.pods[i]->gang->name)
                           : fmt::format("more useful to other pods on node {}", name));
        continue;
      }
      // Other pods of the namespace may have begun to grow in this decision.
      ResourceVector to = LesserOf(amounts, MostAllowed(*node_shares.pods[i], pass.rules()));
      to.cpu = std::max(share.Step(to.cpu), share.current.cpu);
      if (to == share.current) continue;
      const double faster = share.gang ? has[at] / std::max(had[at], 1e-9)
                                       : NormalizedThroughput(share, to) / std::max(had[at], 1e-9);
      Grow(
          pass, node_shares.pods[i], to,
          fmt::format("spare on node {}; {}{:.0f} % faster", name,
                      share.gang ? fmt::format("gang {} is ", node_shares.pods[i]->gang->name) : "",
                      (faster - 1) * 100));
    }
  }
}

void DivideNode(TunerPass& pass, const NodeState& node, Division& division) {
  const std::string& name = node.detail->name;
  if (division.busy.WaitsForEnd(name)) return;
  if (division.busy.WaitsForOutcome(name)) {
    pass.memory.held_up.insert(name);
    return;
  }
  const ShareRules rules = pass.rules();
  const DivisionSites sites =
      SitesOf(pass.cluster, node, rules, division.settled_gangs,
              [&division](const std::string& other) { return division.busy.UseOf(other); });
  if (sites.has_to_wait) {
    pass.memory.touched.insert(name);
    return;
  }
  SendNotices(pass, node);
  if (const auto next = NextChange(node, rules)) {
    pass.memory.due[name] = *next;
    pass.WakeAt(*next);
  }
  // The unused part of a quota may change without any change of the node.
  if (sites.sites.front().node_shares.held_by_limits || sites.has_incomplete_gang) {
    pass.memory.divided.erase(name);
  } else {
    pass.memory.divided[name] = pass.cluster.version();
  }
  if (const auto planned = AmountsFor(sites, pass.settings)) {
    Divide(pass, sites, *planned, division);
  } else {
    division.settled_gangs.insert(sites.gangs.begin(), sites.gangs.end());
  }
}

// Returns the nodes to divide now, apart from those of a round.
std::set<std::string> TakeDue(TunerPass& pass) {
  std::set<std::string> nodes = std::exchange(pass.memory.touched, {});
  for (auto next = pass.memory.due.begin(); next != pass.memory.due.end();) {
    if (next->second > pass.at.now) {
      pass.WakeAt(next->second);
      ++next;
      continue;
    }
    nodes.insert(next->first);
    next = pass.memory.due.erase(next);
  }
  return nodes;
}

// Divides all nodes that have changed since they last had nothing to gain.
void DivideAll(TunerPass& pass, Division& division) {
  TunerMemory& memory = pass.memory;
  if (memory.divided_by != pass.profiles.version()) memory.divided.clear();
  memory.divided_by = pass.profiles.version();
  for (NodeIndex index = 0; index < pass.cluster.size(); ++index) {
    const NodeState& node = pass.cluster.node(index);
    if (!node.exists || node.allocatable.gpus == Gpus(0)) continue;
    const auto divided = memory.divided.find(node.detail->name);
    if (divided != memory.divided.end() && node.changed <= divided->second) continue;
    if (HasEnough(pass)) {
      memory.touched.insert(node.detail->name);
    } else {
      DivideNode(pass, node, division);
    }
  }
}

// Drops entries that have expired.
void Forget(TunerPass& pass) {
  std::erase_if(pass.memory.infeasible, [&pass](const auto& entry) {
    const auto node = pass.cluster.Find(entry.first.node);
    return entry.second.until <= pass.at.now || !node || !pass.cluster.node(*node).exists;
  });
  for (auto* times : {&pass.memory.resting, &pass.memory.loan_retries}) {
    std::erase_if(*times, [&pass](const auto& entry) { return entry.second <= pass.at.now; });
  }
}

}  // namespace

void DivideNodes(TunerPass& pass) {
  TunerMemory& memory = pass.memory;
  std::set<std::string> nodes = TakeDue(pass);
  const bool round = pass.at.now >= memory.next_round;
  if (round) {
    memory.next_round = pass.at.now + pass.settings.round;
    pass.plan.round = true;
    // Changes caused only by time are noticed here at the latest.
    LookAnew(memory);
    Forget(pass);
    memory.take_over_after = {};
  }
  if (round || (memory.take_over && pass.at.now >= *memory.take_over)) TakeOverUnfinished(pass);
  if (memory.take_over) pass.WakeAt(*memory.take_over);
  pass.WakeAt(memory.next_round);
  if (!round && nodes.empty()) return;
  Division division{.busy = BusyNodes(memory), .settled_gangs = {}};
  if (round) DivideAll(pass, division);
  while (!nodes.empty() && !HasEnough(pass)) {
    const std::string name = std::move(nodes.extract(nodes.begin()).value());
    const auto index = pass.cluster.Find(name);
    if (!index) continue;
    const NodeState& node = pass.cluster.node(*index);
    if (node.exists && node.allocatable.gpus > Gpus(0)) DivideNode(pass, node, division);
  }
  memory.touched.merge(nodes);
  // If unfinished actions are the limit (kManyAsked), their outcomes cause the next decision.
  if (!memory.touched.empty() && pass.plan.actions.size() >= kManyActions) {
    pass.WakeAt(pass.at.now);
  }
}

}  // namespace synergy
