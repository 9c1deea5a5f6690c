#include "allocation/gangs/member_separation.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "cluster/node_selection.h"

namespace synergy {
namespace {

// A gang's members may have about this many rules in total; those of further members are ignored.
constexpr size_t kMostRules = 64;

bool HasPorts(const Pod& pod) {
  return pod.separation != nullptr && !pod.separation->host_ports.empty();
}

// Returns whether the constraint counts the node among those over which it spreads pods.
bool IsCounted(const Pod& pod, const TopologySpread& spread, const NodeState& node) {
  if (pod.waiting == nullptr || pod.waiting->selection == nullptr) return true;
  const NodeSelection& own = *pod.waiting->selection;
  NodeSelection honored;
  if (spread.honors_affinity) honored = own;
  honored.tolerations = own.tolerations;
  const std::vector<Taint> none;
  return MayGoTo(honored, node.detail->name, node.detail->labels,
                 spread.honors_taints ? node.detail->taints : none);
}

// Returns the rule for which `is_same` returns true, or a new rule, and whether the rule is new.
template <class Rule, class IsSame>
std::pair<Rule*, bool> FindOrAdd(std::vector<Rule>& rules, const IsSame& is_same) {
  const auto found = std::find_if(rules.begin(), rules.end(), is_same);
  if (found != rules.end()) return {&*found, false};
  return {&rules.emplace_back(), true};
}

}  // namespace

MemberSeparation::MemberSeparation(const ClusterSnapshot& snapshot,
                                   const std::vector<std::shared_ptr<const Pod>>& members,
                                   const std::set<std::string>& ignored, Others others)
    : snapshot_(snapshot), members_(members), ignored_(ignored) {
  is_empty_ = std::all_of(members.begin(), members.end(),
                          [](const auto& member) { return member->separation == nullptr; });
  if (is_empty_) return;
  any_ports_ = std::any_of(members.begin(), members.end(),
                           [](const auto& member) { return HasPorts(*member); });
  AddRules();
  CountPodsOnNodes(others);
}

size_t MemberSeparation::TopologyOf(const std::string& key) {
  for (size_t i = 0; i < topologies_.size(); ++i) {
    if (topologies_[i].key == key) return i;
  }
  Topology topology{.key = key, .domain_of = std::vector<int32_t>(snapshot_.size(), -1)};
  std::map<std::string_view, int32_t> known;
  for (NodeIndex node = 0; node < snapshot_.size(); ++node) {
    if (!snapshot_.node(node).exists) continue;
    const auto value = FindLabel(snapshot_.node(node).detail->labels, key);
    if (!value) continue;
    topology.domain_of[node] =
        known.try_emplace(*value, static_cast<int32_t>(known.size())).first->second;
  }
  topology.domains = known.size();
  topologies_.push_back(std::move(topology));
  return topologies_.size() - 1;
}

int32_t MemberSeparation::DomainOf(const Rule& rule, NodeIndex node) const {
  return topologies_[rule.topology].domain_of[node];
}

void MemberSeparation::AddRules() {
  for (size_t member = 0; member < members_.size(); ++member) {
    const auto& separation = members_[member]->separation;
    if (separation == nullptr) continue;
    if (const auto same = FindEqualMember(member)) {
      for (AffinityRule& rule : affinities_) rule.has_rule[member] = rule.has_rule[*same];
      for (SpreadRule& rule : spreads_) rule.has_rule[member] = rule.has_rule[*same];
      continue;
    }
    if (affinities_.size() + spreads_.size() >= kMostRules) continue;
    for (const AntiAffinity& term : separation->anti_affinity) {
      const size_t topology = TopologyOf(term.topology_key);
      const auto [rule, is_new] = FindOrAdd(affinities_, [&](const AffinityRule& each) {
        return each.topology == topology && each.selector == term.selector;
      });
      if (is_new) {
        rule->topology = topology;
        rule->selector = term.selector;
        rule->has_rule.resize(members_.size());
        rule->with_rule.resize(topologies_[topology].domains);
        rule->matching = rule->with_rule;
      }
      rule->has_rule[member] = true;
    }
    for (const TopologySpread& spread : separation->spread) AddSpread(member, spread);
  }
  const auto find_matches = [this](Rule& rule) {
    for (const auto& member : members_)
      rule.matches.push_back(rule.selector.Matches(member->labels));
  };
  std::for_each(affinities_.begin(), affinities_.end(), find_matches);
  std::for_each(spreads_.begin(), spreads_.end(), find_matches);
}

std::optional<size_t> MemberSeparation::FindEqualMember(size_t member) const {
  const auto selection_of = [this](size_t each) {
    const auto& waiting = members_[each]->waiting;
    return waiting == nullptr ? nullptr : waiting->selection.get();
  };
  const auto are_same = [](const auto* a, const auto* b) {
    return a == b || (a != nullptr && b != nullptr && *a == *b);
  };
  for (size_t other = 0; other < member; ++other) {
    if (are_same(members_[other]->separation.get(), members_[member]->separation.get()) &&
        are_same(selection_of(other), selection_of(member))) {
      return other;
    }
  }
  return std::nullopt;
}

void MemberSeparation::AddSpread(size_t member, const TopologySpread& spread) {
  const Pod& pod = *members_[member];
  std::vector<bool> counts(snapshot_.size());
  for (NodeIndex node = 0; node < snapshot_.size(); ++node) {
    counts[node] = snapshot_.node(node).exists && IsCounted(pod, spread, snapshot_.node(node));
    // A node must have the labels of all of the pod's constraints.
    for (const TopologySpread& other : pod.separation->spread) {
      if (counts[node] && topologies_[TopologyOf(other.topology_key)].domain_of[node] < 0)
        counts[node] = false;
    }
  }
  const auto [rule, is_new] = FindOrAdd(spreads_, [&](const SpreadRule& each) {
    return each.spread == spread && each.counts == counts;
  });
  if (is_new) {
    rule->topology = TopologyOf(spread.topology_key);
    rule->selector = spread.selector;
    rule->spread = spread;
    rule->has_rule.resize(members_.size());
    const Topology& topology = topologies_[rule->topology];
    rule->domain_counts.resize(topology.domains);
    rule->matching.resize(topology.domains);
    rule->of_members.resize(topology.domains);
    for (NodeIndex node = 0; node < snapshot_.size(); ++node) {
      if (counts[node]) rule->domain_counts[static_cast<size_t>(topology.domain_of[node])] = true;
    }
    rule->counts = std::move(counts);
  }
  rule->has_rule[member] = true;
}

void MemberSeparation::CountPodsOnNodes(Others others) {
  if (others == Others::kNone) return;
  const auto& gang = members_.front()->gang;
  if (gang != nullptr) {
    for (const auto& fellow : snapshot_.MembersOnNodes(gang->name)) {
      const auto node = snapshot_.Find(fellow->node);
      if (node && !ignored_.contains(fellow->uid)) CountOne(*fellow, *node, true);
    }
  }
  for (NodeIndex node = 0; node < snapshot_.size(); ++node) {
    if (!snapshot_.node(node).exists) continue;
    for (const auto& pod : snapshot_.node(node).detail->pods) {
      const bool is_fellow =
          gang != nullptr && pod->gang != nullptr && pod->gang->name == gang->name;
      // Count the places of other gangs: otherwise kube-scheduler would let some members of each
      // gang go there, and neither gang would be complete.
      if (is_fellow || ignored_.contains(pod->uid)) continue;
      CountOne(*pod, node, false);
    }
  }
}

void MemberSeparation::CountOne(const Pod& pod, NodeIndex node, bool is_fellow) {
  if (any_ports_ && HasPorts(pod)) ports_on_[node].push_back(pod.separation.get());
  if (pod.pod_namespace != members_.front()->pod_namespace) return;
  for (AffinityRule& rule : affinities_) {
    const int32_t domain = DomainOf(rule, node);
    if (domain < 0) continue;
    const auto at = static_cast<size_t>(domain);
    if (rule.selector.Matches(pod.labels)) ++rule.matching[at];
    if (!is_fellow || pod.separation == nullptr) continue;
    for (const AntiAffinity& term : pod.separation->anti_affinity) {
      if (term.topology_key == topologies_[rule.topology].key && term.selector == rule.selector)
        ++rule.with_rule[at];
    }
  }
  for (SpreadRule& rule : spreads_) {
    if (!rule.counts[node] || pod.deleting || !rule.selector.Matches(pod.labels)) continue;
    ++rule.matching[static_cast<size_t>(DomainOf(rule, node))];
  }
}

bool MemberSeparation::Allows(size_t member, NodeIndex node) const {
  return AllowsInTheEnd(member, node) && SpreadAllows(member, node);
}

bool MemberSeparation::AllowsInTheEnd(size_t member, NodeIndex node) const {
  if (SharesAPort(member, node)) return false;
  const bool apart = std::any_of(affinities_.begin(), affinities_.end(), [&](const auto& rule) {
    const int32_t domain = DomainOf(rule, node);
    if (domain < 0) return false;
    const auto at = static_cast<size_t>(domain);
    return (rule.has_rule[member] && rule.matching[at] > 0) ||
           (rule.matches[member] && rule.with_rule[at] > 0);
  });
  if (apart) return false;
  return std::all_of(spreads_.begin(), spreads_.end(), [&](const SpreadRule& rule) {
    return !rule.has_rule[member] || DomainOf(rule, node) >= 0;
  });
}

bool MemberSeparation::SharesAPort(size_t member, NodeIndex node) const {
  if (!any_ports_ || !HasPorts(*members_[member])) return false;
  const auto there = ports_on_.find(node);
  if (there == ports_on_.end()) return false;
  return std::any_of(there->second.begin(), there->second.end(), [&](const Separation* other) {
    return ShareAPort(*members_[member]->separation, *other);
  });
}

int32_t MemberSeparation::SpreadRule::Fewest() const {
  int32_t fewest = std::numeric_limits<int32_t>::max();
  int32_t domains = 0;
  for (size_t domain = 0; domain < matching.size(); ++domain) {
    if (!domain_counts[domain]) continue;
    ++domains;
    fewest = std::min(fewest, matching[domain]);
  }
  return domains < spread.min_domains || domains == 0 ? 0 : fewest;
}

bool MemberSeparation::SpreadAllows(size_t member, NodeIndex node) const {
  return std::all_of(spreads_.begin(), spreads_.end(), [&](const SpreadRule& rule) {
    if (!rule.has_rule[member]) return true;
    const int32_t domain = DomainOf(rule, node);
    const int32_t self = rule.matches[member] ? 1 : 0;
    return rule.matching[static_cast<size_t>(domain)] + self - rule.Fewest() <=
           rule.spread.max_skew;
  });
}

bool MemberSeparation::SpreadMayHold(size_t more) const {
  return std::all_of(spreads_.begin(), spreads_.end(), [&](const SpreadRule& rule) {
    int32_t most = 0;
    bool any = false;
    int32_t domains = 0;
    for (size_t domain = 0; domain < rule.matching.size(); ++domain) {
      domains += rule.domain_counts[domain] ? 1 : 0;
      if (rule.of_members[domain] == 0) continue;
      any = true;
      most = std::max(most, rule.matching[domain]);
    }
    if (!any) return true;
    // All domains must reach `least`; otherwise the fullest domain has too many pods.
    const int32_t least = most - rule.spread.max_skew;
    if (least > 0 && domains < rule.spread.min_domains) return false;
    int64_t needed = 0;
    for (size_t domain = 0; domain < rule.matching.size(); ++domain) {
      if (rule.domain_counts[domain]) needed += std::max(0, least - rule.matching[domain]);
    }
    return needed <= static_cast<int64_t>(more);
  });
}

void MemberSeparation::Put(size_t member, NodeIndex node) {
  if (is_empty_) return;
  Add(member, node, 1);
  if (HasPorts(*members_[member])) ports_on_[node].push_back(members_[member]->separation.get());
}

void MemberSeparation::Take(size_t member, NodeIndex node) {
  if (is_empty_) return;
  Add(member, node, -1);
  if (!HasPorts(*members_[member])) return;
  std::vector<const Separation*>& there = ports_on_[node];
  const auto one = std::find(there.begin(), there.end(), members_[member]->separation.get());
  if (one != there.end()) there.erase(one);
}

void MemberSeparation::Add(size_t member, NodeIndex node, int32_t by) {
  for (AffinityRule& rule : affinities_) {
    const int32_t domain = DomainOf(rule, node);
    if (domain < 0) continue;
    const auto at = static_cast<size_t>(domain);
    if (rule.matches[member]) rule.matching[at] += by;
    if (rule.has_rule[member]) rule.with_rule[at] += by;
  }
  for (SpreadRule& rule : spreads_) {
    const int32_t domain = DomainOf(rule, node);
    if (domain < 0) continue;
    const auto at = static_cast<size_t>(domain);
    if (rule.matches[member] && rule.counts[node]) rule.matching[at] += by;
    if (rule.has_rule[member] && rule.matches[member]) rule.of_members[at] += by;
  }
}

}  // namespace synergy
