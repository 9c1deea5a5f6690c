#include "engine/tuner/division_sites.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "allocation/surplus.h"
#include "engine/tuner/gang_shares.h"

namespace synergy {
namespace {

class SitesBuilder {
 public:
  SitesBuilder(const ClusterSnapshot& cluster, const ShareRules& rules,
               const std::function<NodeUse(const std::string&)>& use)
      : cluster_(cluster), rules_(rules), use_(use) {}

  DivisionSites Build(const NodeState& node, const std::set<std::string>& settled) {
    NodeShares node_shares = SharesOn(node, SharePurpose::kDivide, rules_);
    std::set<std::string> gangs;
    for (const auto& pod : node_shares.pods) {
      if (pod->gang && !settled.contains(pod->gang->name)) gangs.insert(pod->gang->name);
    }
    node_shares_.emplace(node.detail->name, std::move(node_shares));
    order_.push_back(&node);
    for (const std::string& gang : gangs) {
      if (MayBeDivided(gang)) Add(gang);
      if (sites_.has_to_wait) return std::move(sites_);
    }
    for (const NodeState* const site : order_) {
      NodeShares& of_site = node_shares_.at(site->detail->name);
      Join(of_site);
      for (PodShare& share : of_site.shares) {
        if (share.storage) share.storage->number = sites_.sites.size();
      }
      sites_.sites.push_back({site, std::move(of_site)});
    }
    return std::move(sites_);
  }

 private:
  NodeShares& SharesAt(const NodeState& node) {
    const auto [found, is_new] = node_shares_.try_emplace(node.detail->name);
    if (is_new) found->second = SharesOn(node, SharePurpose::kDivide, rules_);
    return found->second;
  }

  // Returns whether every member exists and may be changed.
  bool MayBeDivided(const std::string& gang) {
    const GangSites* const sites = cluster_.GangOf(gang);
    if (sites == nullptr || sites->waiting > 0) {
      sites_.has_incomplete_gang = true;
      return false;
    }
    bool all_idle = true;
    for (const NodeIndex index : sites->nodes) {
      const NodeState& node = cluster_.node(index);
      if (&node == order_.front()) continue;
      const NodeUse use = use_(node.detail->name);
      sites_.has_to_wait |= use == NodeUse::kDividing;
      all_idle &= node.exists && use == NodeUse::kIdle;
    }
    if (!all_idle) return false;
    size_t shares = 0;
    for (const NodeIndex index : sites->nodes) {
      const NodeShares& node_shares = SharesAt(cluster_.node(index));
      for (size_t i = 0; i < node_shares.pods.size(); ++i) {
        if (!node_shares.pods[i]->gang || node_shares.pods[i]->gang->name != gang) continue;
        if (node_shares.keeps[i]) return false;
        ++shares;
      }
    }
    return shares == RunningMembers(cluster_, gang).size();
  }

  void Add(const std::string& gang) {
    sites_.gangs.push_back(gang);
    for (const NodeIndex index : cluster_.GangOf(gang)->nodes) {
      const NodeState* const node = &cluster_.node(index);
      if (std::find(order_.begin(), order_.end(), node) == order_.end()) order_.push_back(node);
    }
  }

  void Join(NodeShares& node_shares) {
    for (size_t i = 0; i < node_shares.pods.size(); ++i) {
      const Pod& pod = *node_shares.pods[i];
      if (!pod.gang) continue;
      PodShare& share = node_shares.shares[i];
      const auto gang = std::find(sites_.gangs.begin(), sites_.gangs.end(), pod.gang->name);
      if (gang == sites_.gangs.end()) {
        share.least = share.most = share.current;
        continue;
      }
      const auto members = RunningMembers(cluster_, *gang);
      share.gang = InGang{.number = static_cast<size_t>(gang - sites_.gangs.begin()),
                          .gpus = GpusOfGang(members),
                          .needs = LeastOfGang(members, pod)};
      const ResourceVector most = MostAllowedForEach(pod, share.most, members.size(), rules_);
      node_shares.held_by_limits |= LargerOf(most, share.most) != most;
      share.most = LesserOf(share.most, LargerOf(most, share.current));
      share.most.cpu = share.Step(share.most.cpu);
    }
  }

  const ClusterSnapshot& cluster_;
  const ShareRules& rules_;
  const std::function<NodeUse(const std::string&)>& use_;
  std::map<std::string, NodeShares> node_shares_;  // by node
  std::vector<const NodeState*> order_;
  DivisionSites sites_;
};

std::vector<ResourceVector> AmountsOf(NodeAmounts amounts) {
  std::vector<ResourceVector> all;
  for (const auto& of_node : amounts) all.insert(all.end(), of_node.begin(), of_node.end());
  return all;
}

std::vector<DividedNode> NodesOf(const DivisionSites& sites, const ResourceVector& headroom) {
  std::vector<DividedNode> nodes;
  for (const DivisionSites::Site& site : sites.sites) {
    nodes.push_back({site.node_shares.shares, WithNominated(*site.node).Free() - headroom});
  }
  return nodes;
}

}  // namespace

std::vector<PodShare> DivisionSites::Shares() const {
  std::vector<PodShare> shares;
  for (const Site& site : sites) {
    shares.insert(shares.end(), site.node_shares.shares.begin(), site.node_shares.shares.end());
  }
  return shares;
}

std::vector<ResourceVector> DivisionSites::Regrown(const ResourceVector& headroom) const {
  const std::vector<DividedNode> nodes = NodesOf(*this, headroom);
  if (gangs.empty()) return Regrow(nodes.front().shares, nodes.front().spare);
  return AmountsOf(RegrowTogether(nodes));
}

std::vector<ResourceVector> DivisionSites::Levelled() const {
  return AmountsOf(synergy::Levelled(NodesOf(*this, {})));
}

DivisionSites SitesOf(const ClusterSnapshot& cluster, const NodeState& node,
                      const ShareRules& rules, const std::set<std::string>& settled,
                      const std::function<NodeUse(const std::string&)>& use) {
  return SitesBuilder(cluster, rules, use).Build(node, settled);
}

}  // namespace synergy
