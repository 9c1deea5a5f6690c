#include "allocation/gangs/gang_division.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "allocation/node_division.h"
#include "allocation/surplus.h"

namespace synergy {
namespace {

// Most turns of each gang. As a rule, nothing is gained from the third on.
constexpr int kTurns = 6;
// Amounts to try for each gang: for one gang, and for two that may exchange theirs.
constexpr size_t kAllAmounts = 512;
constexpr size_t kFewAmounts = 9;

class GangDivider {
 public:
  explicit GangDivider(std::span<const DividedNode> nodes) : nodes_(nodes) {
    for (size_t node = 0; node < nodes.size(); ++node) {
      std::vector<Range>& ranges = ranges_.emplace_back();
      std::vector<Tenant>& apart = apart_.emplace_back();
      NodeSums& sums = sums_.emplace_back();
      sums.spare = LargerOf(nodes[node].spare, {});
      sums.spare.gpus = Gpus(0);
      for (size_t i = 0; i < nodes[node].tenants.size(); ++i) {
        const Tenant& tenant = nodes[node].tenants[i];
        ranges.push_back({tenant.least, LargerOf(tenant.current, tenant.most)});
        apart.push_back(tenant);
        apart.back().gang.reset();
        if (tenant.gang) gangs_[tenant.gang->number].members.push_back({node, i});
      }
    }
    for (auto& [number, gang] : gangs_) {
      for (const Member& member : gang.members) {
        gang.tenants.push_back(TenantAt(member));
        gang.nodes.insert(member.node);
      }
      gang.common = LeastOf(gang, Present());
    }
  }

  NodeAmounts Present() const {
    NodeAmounts amounts;
    for (const DividedNode& node : nodes_) {
      std::vector<ResourceVector>& of_node = amounts.emplace_back();
      for (const Tenant& tenant : node.tenants) of_node.push_back(tenant.current);
    }
    return amounts;
  }

  // Lowers each gang's members to the least that any of them has in `amounts`.
  NodeAmounts Levelled(NodeAmounts amounts) const {
    for (const auto& [number, gang] : gangs_) Give(gang, LeastOf(gang, amounts), amounts);
    return amounts;
  }

  NodeAmounts Best() {
    NodeAmounts together = Together();
    // Each node by itself.
    NodeAmounts apart;
    for (size_t node = 0; node < nodes_.size(); ++node) {
      apart.push_back(Regrow(apart_[node], sums_[node].spare));
    }
    apart = Levelled(std::move(apart));
    for (NodeAmounts* const amounts : {&together, &apart}) GiveRests(*amounts);
    return Total(apart) > Total(together) + kLeastGain ? apart : together;
  }

 private:
  struct Member {
    size_t node = 0;
    size_t tenant = 0;
  };
  struct GangOfNodes {
    std::vector<Member> members;
    std::vector<Tenant> tenants;  // the same
    std::set<size_t> nodes;
    ResourceVector common;  // for as many GPUs as the first member has
  };
  struct NodeSums {
    ResourceVector spare;
    double alone = 0;  // the throughput of tenants without a gang
  };

  const Tenant& TenantAt(const Member& member) const {
    return nodes_[member.node].tenants[member.tenant];
  }

  static ResourceVector LeastOf(const GangOfNodes& gang, const NodeAmounts& amounts) {
    const Gpus first = gang.tenants.front().current.gpus;
    std::optional<ResourceVector> least;
    for (size_t i = 0; i < gang.members.size(); ++i) {
      const Member& member = gang.members[i];
      const ResourceVector has =
          PartOf(amounts[member.node][member.tenant], first, gang.tenants[i].current.gpus);
      least = least ? LesserOf(*least, has) : has;
    }
    return *least;
  }

  ResourceVector PartAt(const Member& member, const ResourceVector& common) const {
    return Part(TenantAt(member), ranges_[member.node][member.tenant], common);
  }

  void Give(const GangOfNodes& gang, const ResourceVector& common, NodeAmounts& amounts) const {
    for (const Member& member : gang.members) {
      amounts[member.node][member.tenant] = PartAt(member, common);
    }
  }

  double WorthOf(const GangOfNodes& gang, const ResourceVector& common) const {
    std::vector<ResourceVector> amounts;
    for (const Member& member : gang.members) amounts.push_back(PartAt(member, common));
    return TotalThroughput(gang.tenants, amounts);
  }

  double Total(const NodeAmounts& amounts) const {
    double total = 0;
    for (size_t node = 0; node < nodes_.size(); ++node) total += Alone(node, amounts[node]);
    for (const auto& [number, gang] : gangs_) {
      std::vector<ResourceVector> have;
      for (const Member& member : gang.members) have.push_back(amounts[member.node][member.tenant]);
      total += TotalThroughput(gang.tenants, have);
    }
    return total;
  }

  double Alone(size_t node, const std::vector<ResourceVector>& amounts) const {
    double total = 0;
    for (size_t i = 0; i < amounts.size(); ++i) {
      const Tenant& tenant = nodes_[node].tenants[i];
      if (!tenant.gang) total += NormalizedThroughput(tenant, amounts[i]);
    }
    return total;
  }

  // Divides the node among its other tenants, with its gangs' members at their new amounts; none if
  // those do not fit.
  std::optional<std::vector<ResourceVector>> DivideRest(size_t node) const {
    std::vector<Range> ranges = ranges_[node];
    for (size_t i = 0; i < ranges.size(); ++i) {
      const Tenant& tenant = nodes_[node].tenants[i];
      if (!tenant.gang) continue;
      const ResourceVector has = Part(tenant, ranges[i], gangs_.at(tenant.gang->number).common);
      ranges[i] = {has, has};
    }
    return DivideAgain(apart_[node], ranges, sums_[node].spare);
  }

  // The amounts of all tenants after each gang in turn has taken what is best overall.
  NodeAmounts Together() {
    NodeAmounts amounts = Present();
    for (size_t node = 0; node < nodes_.size(); ++node) {
      // Their present amounts fit, and so does the least that any member has.
      if (auto divided = DivideRest(node)) amounts[node] = *std::move(divided);
      sums_[node].alone = Alone(node, amounts[node]);
    }
    bool improved = true;
    for (int turn = 0; turn < kTurns && improved; ++turn) {
      improved = false;
      for (auto& [number, gang] : gangs_) improved |= Improve({&gang}, kAllAmounts, amounts);
      if (!improved) improved = ImproveTwo(amounts);
    }
    return amounts;
  }

  // Exchanges amounts between two gangs on the same node.
  bool ImproveTwo(NodeAmounts& amounts) {
    bool improved = false;
    for (auto one = gangs_.begin(); one != gangs_.end(); ++one) {
      for (auto other = std::next(one); other != gangs_.end(); ++other) {
        const std::set<size_t>& nodes = other->second.nodes;
        const bool meet = std::any_of(one->second.nodes.begin(), one->second.nodes.end(),
                                      [&](size_t node) { return nodes.contains(node); });
        if (meet) improved |= Improve({&one->second, &other->second}, kFewAmounts, amounts);
      }
    }
    return improved;
  }

  // The best amounts found for one or two gangs.
  struct Found {
    double total = 0;
    std::vector<ResourceVector> commons;
    std::map<size_t, std::vector<ResourceVector>> amounts;  // by node; empty: as it is
  };

  bool Improve(const std::vector<GangOfNodes*>& gangs, size_t most_amounts, NodeAmounts& amounts) {
    std::set<size_t> nodes;
    Found found;
    for (const GangOfNodes* const gang : gangs) {
      nodes.insert(gang->nodes.begin(), gang->nodes.end());
      found.total += WorthOf(*gang, gang->common);
      found.commons.push_back(gang->common);
    }
    for (const size_t node : nodes) found.total += sums_[node].alone;
    Try(gangs, 0, 0, most_amounts, nodes, found);
    for (size_t i = 0; i < gangs.size(); ++i) gangs[i]->common = found.commons[i];
    for (auto& [node, of_node] : found.amounts) {
      sums_[node].alone = Alone(node, of_node);
      amounts[node] = std::move(of_node);
    }
    return !found.amounts.empty();
  }

  // Tries all amounts of the gangs from `next` on; `worth` is the throughput of those before.
  void Try(const std::vector<GangOfNodes*>& gangs, size_t next, double worth, size_t most_amounts,
           const std::set<size_t>& nodes, Found& found) {
    if (next < gangs.size()) {
      for (const ResourceVector& common : AmountsToTry(*gangs[next], most_amounts)) {
        gangs[next]->common = common;
        Try(gangs, next + 1, worth + WorthOf(*gangs[next], common), most_amounts, nodes, found);
      }
      return;
    }
    std::map<size_t, std::vector<ResourceVector>> divided;
    double total = worth;
    for (const size_t node : nodes) {
      auto rest = DivideRest(node);
      if (!rest) return;
      total += Alone(node, *rest);
      divided[node] = *std::move(rest);
    }
    if (total <= found.total + kLeastGain) return;
    found.total = total;
    for (size_t i = 0; i < gangs.size(); ++i) found.commons[i] = gangs[i]->common;
    found.amounts = std::move(divided);
  }

  std::vector<ResourceVector> AmountsToTry(const GangOfNodes& gang, size_t most) const {
    std::vector<const Tenant*> tenants;
    std::vector<Range> ranges;
    for (const Member& member : gang.members) {
      tenants.push_back(&TenantAt(member));
      ranges.push_back(ranges_[member.node][member.tenant]);
    }
    std::vector<ResourceVector> useful;
    double worth = 0;
    for (const ResourceVector& common : CommonAmounts(tenants, ranges)) {
      const double now = WorthOf(gang, common);
      // Skip more memory than the last amount that helped.
      const bool in_vain =
          !useful.empty() && useful.back().cpu == common.cpu && now <= worth + kLeastGain;
      if (in_vain) continue;
      worth = now;
      useful.push_back(common);
    }
    if (useful.size() <= most) return useful;
    std::vector<ResourceVector> some;
    for (size_t i = 0; i < most; ++i) {
      some.push_back(useful[i * (useful.size() - 1) / (most - 1)]);
    }
    return some;
  }

  // Gives out what the steps have left over.
  void GiveRests(NodeAmounts& amounts) const {
    for (const auto& [number, gang] : gangs_) {
      const ResourceVector has = LeastOf(gang, amounts);
      std::optional<MilliCpu> more;
      for (const size_t node : gang.nodes) {
        Gpus gpus;
        for (const Member& member : gang.members) {
          if (member.node == node) gpus += TenantAt(member).current.gpus;
        }
        const MilliCpu left = PartOf(Rest(node, amounts[node]), has.gpus, gpus).cpu;
        more = std::min(more.value_or(left), left);
      }
      ResourceVector common = has;
      common.cpu += *more;
      if (*more <= MilliCpu(0) || WorthOf(gang, common) <= WorthOf(gang, has) + kLeastGain)
        continue;
      Give(gang, common, amounts);
    }
    for (size_t node = 0; node < nodes_.size(); ++node) {
      GiveRest(nodes_[node].tenants, ranges_[node], sums_[node].spare, amounts[node]);
    }
  }

  ResourceVector Rest(size_t node, const std::vector<ResourceVector>& amounts) const {
    ResourceVector rest = sums_[node].spare;
    for (size_t i = 0; i < amounts.size(); ++i) {
      rest += nodes_[node].tenants[i].current - amounts[i];
    }
    return rest;
  }

  std::span<const DividedNode> nodes_;
  std::vector<std::vector<Range>> ranges_;
  std::vector<std::vector<Tenant>> apart_;  // the same tenants, as if all trained alone
  std::vector<NodeSums> sums_;
  std::map<size_t, GangOfNodes> gangs_;
};

}  // namespace

NodeAmounts RegrowTogether(std::span<const DividedNode> nodes) { return GangDivider(nodes).Best(); }

NodeAmounts Levelled(std::span<const DividedNode> nodes) {
  const GangDivider divider(nodes);
  return divider.Levelled(divider.Present());
}

}  // namespace synergy
