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

// The most turns that each gang gets. Usually nothing is gained after the second turn.
constexpr int kTurns = 6;
// How many amounts to try for a single gang, and for each of two gangs that may exchange amounts.
constexpr size_t kAllAmounts = 512;
constexpr size_t kFewAmounts = 9;

class GangDivider {
 public:
  explicit GangDivider(std::span<const DividedNode> nodes) : nodes_(nodes) {
    for (size_t node = 0; node < nodes.size(); ++node) {
      std::vector<Range>& ranges = ranges_.emplace_back();
      std::vector<PodShare>& apart = apart_.emplace_back();
      NodeSums& sums = sums_.emplace_back();
      sums.spare = LargerOf(nodes[node].spare, {});
      sums.spare.gpus = Gpus(0);
      for (size_t i = 0; i < nodes[node].shares.size(); ++i) {
        const PodShare& share = nodes[node].shares[i];
        ranges.push_back({share.least, LargerOf(share.current, share.most)});
        apart.push_back(share);
        apart.back().gang.reset();
        if (share.gang) gangs_[share.gang->number].members.push_back({node, i});
      }
    }
    for (auto& [number, gang] : gangs_) {
      for (const Member& member : gang.members) {
        gang.shares.push_back(ShareAt(member));
        gang.nodes.insert(member.node);
      }
      gang.common = LeastOf(gang, Present());
    }
  }

  NodeAmounts Present() const {
    NodeAmounts amounts;
    for (const DividedNode& node : nodes_) {
      std::vector<ResourceVector>& of_node = amounts.emplace_back();
      for (const PodShare& share : node.shares) of_node.push_back(share.current);
    }
    return amounts;
  }

  // Lowers the members of each gang to the least that any of them has in `amounts`.
  NodeAmounts Levelled(NodeAmounts amounts) const {
    for (const auto& [number, gang] : gangs_) Give(gang, LeastOf(gang, amounts), amounts);
    return amounts;
  }

  NodeAmounts Best() {
    NodeAmounts together = Together();
    // Divide each node on its own.
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
    size_t share = 0;
  };
  struct GangOfNodes {
    std::vector<Member> members;
    std::vector<PodShare> shares;  // the shares of these members
    std::set<size_t> nodes;
    ResourceVector common;  // for as many GPUs as the first member has
  };
  struct NodeSums {
    ResourceVector spare;
    double alone = 0;  // the throughput of shares without a gang
  };

  const PodShare& ShareAt(const Member& member) const {
    return nodes_[member.node].shares[member.share];
  }

  static ResourceVector LeastOf(const GangOfNodes& gang, const NodeAmounts& amounts) {
    const Gpus first = gang.shares.front().current.gpus;
    std::optional<ResourceVector> least;
    for (size_t i = 0; i < gang.members.size(); ++i) {
      const Member& member = gang.members[i];
      const ResourceVector has =
          PartOf(amounts[member.node][member.share], first, gang.shares[i].current.gpus);
      least = least ? LesserOf(*least, has) : has;
    }
    return *least;
  }

  ResourceVector PartAt(const Member& member, const ResourceVector& common) const {
    return Part(ShareAt(member), ranges_[member.node][member.share], common);
  }

  void Give(const GangOfNodes& gang, const ResourceVector& common, NodeAmounts& amounts) const {
    for (const Member& member : gang.members) {
      amounts[member.node][member.share] = PartAt(member, common);
    }
  }

  double WorthOf(const GangOfNodes& gang, const ResourceVector& common) const {
    std::vector<ResourceVector> amounts;
    for (const Member& member : gang.members) amounts.push_back(PartAt(member, common));
    return TotalThroughput(gang.shares, amounts);
  }

  double Total(const NodeAmounts& amounts) const {
    double total = 0;
    for (size_t node = 0; node < nodes_.size(); ++node) total += Alone(node, amounts[node]);
    for (const auto& [number, gang] : gangs_) {
      std::vector<ResourceVector> have;
      for (const Member& member : gang.members) have.push_back(amounts[member.node][member.share]);
      total += TotalThroughput(gang.shares, have);
    }
    return total;
  }

  double Alone(size_t node, const std::vector<ResourceVector>& amounts) const {
    double total = 0;
    for (size_t i = 0; i < amounts.size(); ++i) {
      const PodShare& share = nodes_[node].shares[i];
      if (!share.gang) total += NormalizedThroughput(share, amounts[i]);
    }
    return total;
  }

  // Divides the node among its other shares, with its gangs' members at their new amounts. Returns
  // nullopt if those do not fit.
  std::optional<std::vector<ResourceVector>> DivideRest(size_t node) const {
    std::vector<Range> ranges = ranges_[node];
    for (size_t i = 0; i < ranges.size(); ++i) {
      const PodShare& share = nodes_[node].shares[i];
      if (!share.gang) continue;
      const ResourceVector has = Part(share, ranges[i], gangs_.at(share.gang->number).common);
      ranges[i] = {has, has};
    }
    return DivideAgain(apart_[node], ranges, sums_[node].spare);
  }

  // Returns the amounts of all shares after each gang in turn has taken what is best overall.
  NodeAmounts Together() {
    NodeAmounts amounts = Present();
    for (size_t node = 0; node < nodes_.size(); ++node) {
      // The division fits: the members' present amounts fit, and so does the least that any member
      // has.
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
    std::map<size_t, std::vector<ResourceVector>> amounts;  // by node; empty: unchanged
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

  // Tries all amounts of the gangs from `next` on. `worth`: the throughput of the gangs before
  // `next`.
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
    std::vector<const PodShare*> shares;
    std::vector<Range> ranges;
    for (const Member& member : gang.members) {
      shares.push_back(&ShareAt(member));
      ranges.push_back(ranges_[member.node][member.share]);
    }
    std::vector<ResourceVector> useful;
    double worth = 0;
    for (const ResourceVector& common : CommonAmounts(shares, ranges)) {
      const double now = WorthOf(gang, common);
      // Skip amounts with more memory than the last amount that helped.
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

  // Distributes the amounts that the discrete steps left over.
  void GiveRests(NodeAmounts& amounts) const {
    for (const auto& [number, gang] : gangs_) {
      const ResourceVector has = LeastOf(gang, amounts);
      std::optional<MilliCpu> more;
      for (const size_t node : gang.nodes) {
        Gpus gpus;
        for (const Member& member : gang.members) {
          if (member.node == node) gpus += ShareAt(member).current.gpus;
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
      GiveRest(nodes_[node].shares, ranges_[node], sums_[node].spare, amounts[node]);
    }
  }

  ResourceVector Rest(size_t node, const std::vector<ResourceVector>& amounts) const {
    ResourceVector rest = sums_[node].spare;
    for (size_t i = 0; i < amounts.size(); ++i) {
      rest += nodes_[node].shares[i].current - amounts[i];
    }
    return rest;
  }

  std::span<const DividedNode> nodes_;
  std::vector<std::vector<Range>> ranges_;
  std::vector<std::vector<PodShare>> apart_;  // the same shares, as if each trained alone
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
