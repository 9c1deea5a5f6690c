#pragma once

// Tracks which members of a gang may be together on nodes under their rules of separation
// (cluster/separation.h), as kube-scheduler will judge each of them.
//
// Topology spread depends on the order in which members are placed. If it holds once all of them
// are placed, some order satisfies it at every step. In that order, each member goes into the
// allowed domain with the fewest matching pods (Allows()).
//
// Threading: one owner.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"

namespace synergy {

class MemberSeparation {
 public:
  // Selects which other pods on the nodes count.
  enum class Others : uint8_t {
    kAll,  // all known pods
    kNone,
  };

  // The arguments must outlive this object. `ignored`: UIDs of pods to ignore, including the
  // members.
  MemberSeparation(const ClusterSnapshot& snapshot,
                   const std::vector<std::shared_ptr<const Pod>>& members,
                   const std::set<std::string>& ignored, Others others);

  // Returns whether no member has a rule of separation.
  bool empty() const { return is_empty_; }
  // Returns whether the member may go there next, beside those already placed.
  bool Allows(size_t member, NodeIndex node) const;
  // Does the same, but ignores the present state of topology spread.
  bool AllowsInTheEnd(size_t member, NodeIndex node) const;
  // Returns whether topology spread holds, or may hold once `more` further members are placed.
  bool SpreadMayHold(size_t more) const;
  // Add or remove a member on a node.
  void Put(size_t member, NodeIndex node);
  void Take(size_t member, NodeIndex node);

 private:
  // The nodes by their value of a label.
  struct Topology {
    std::string key;
    std::vector<int32_t> domain_of;  // by node; negative: none
    size_t domains = 0;
  };
  struct Rule {
    size_t topology = 0;
    LabelSelector selector;
    std::vector<bool> has_rule;  // by member: whether it has the rule
    std::vector<bool> matches;   // by member
  };
  struct AffinityRule : Rule {
    std::vector<int32_t> with_rule;  // by domain: number of pods with the rule
    std::vector<int32_t> matching;   // by domain: number of pods that match it
  };
  struct SpreadRule : Rule {
    TopologySpread spread;
    std::vector<bool> counts;         // by node: considered for the spread
    std::vector<bool> domain_counts;  // by domain: whether it has such a node
    std::vector<int32_t> matching;    // by domain
    std::vector<int32_t> of_members;  // by domain: placed members with the rule

    int32_t Fewest() const;
  };

  size_t TopologyOf(const std::string& key);
  int32_t DomainOf(const Rule& rule, NodeIndex node) const;
  void AddRules();
  // Returns an earlier member with the same rules that may go to the same nodes.
  std::optional<size_t> FindEqualMember(size_t member) const;
  void AddSpread(size_t member, const TopologySpread& spread);
  void CountPodsOnNodes(Others others);
  void CountOne(const Pod& pod, NodeIndex node, bool is_fellow);
  bool SharesAPort(size_t member, NodeIndex node) const;
  bool SpreadAllows(size_t member, NodeIndex node) const;
  void Add(size_t member, NodeIndex node, int32_t by);

  const ClusterSnapshot& snapshot_;
  const std::vector<std::shared_ptr<const Pod>>& members_;
  const std::set<std::string>& ignored_;
  bool is_empty_ = true;
  std::vector<Topology> topologies_;
  std::vector<AffinityRule> affinities_;
  std::vector<SpreadRule> spreads_;
  bool any_ports_ = false;
  std::unordered_map<NodeIndex, std::vector<const Separation*>> ports_on_;
};

}  // namespace synergy
