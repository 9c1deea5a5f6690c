// Tests the joint division of nodes with gangs across them against the division of each node alone
// and against exhaustive search.

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "allocation/gangs/gang_division.h"
#include "allocation/surplus.h"

namespace synergy::testing {
namespace {

constexpr double kEqual = 1e-5;

// Returns profiles: an insensitive one, a linear one, and one that flattens.
const std::vector<JobProfile>& OfCpu() {
  static const std::vector<JobProfile> profiles = {
      *JobProfile::Create(Gpus(1), {{Cores(1), GiB(1), 5}, {Cores(8), GiB(1), 5.2}}),
      *JobProfile::Create(Gpus(1), {{Cores(1), GiB(1), 1}, {Cores(8), GiB(1), 8}}),
      *JobProfile::Create(Gpus(1),
                          {{Cores(1), GiB(1), 1}, {Cores(3), GiB(1), 6}, {Cores(8), GiB(1), 7}})};
  return profiles;
}

// Nodes with shares. Some shares are members of gangs, which are on one node or several.
struct Nodes {
  std::vector<std::vector<PodShare>> shares;
  std::vector<ResourceVector> spare;

  std::vector<DividedNode> View() const {
    std::vector<DividedNode> view;
    for (size_t i = 0; i < shares.size(); ++i) view.push_back({shares[i], spare[i]});
    return view;
  }
};

PodShare RandomShare(const JobProfile& profile) {
  PodShare share;
  share.profile = &profile;
  share.fair = {Gpus(1), Cores(3), GiB(1)};
  share.least = {Gpus(1), Cores(2), GiB(1)};
  share.current = share.least;
  share.current.cpu += Cores(*rc::gen::inRange(0, 4));
  share.most = {Gpus(1), Cores(8), GiB(1)};
  return share;
}

Nodes RandomNodes(size_t most_gangs) {
  Nodes nodes;
  nodes.shares.resize(*rc::gen::inRange<size_t>(1, 4));
  for (auto& shares : nodes.shares) {
    for (int64_t i = *rc::gen::inRange(0, 3); i > 0; --i) {
      shares.push_back(RandomShare(OfCpu()[*rc::gen::inRange<size_t>(0, OfCpu().size())]));
    }
    nodes.spare.push_back({Gpus(0), Cores(*rc::gen::inRange(0, 8)), GiB(0)});
  }
  for (size_t gang = *rc::gen::inRange<size_t>(1, most_gangs + 1); gang > 0; --gang) {
    const JobProfile& profile = OfCpu()[*rc::gen::inRange<size_t>(0, OfCpu().size())];
    const auto members = *rc::gen::inRange<size_t>(2, 4);
    for (size_t i = 0; i < members; ++i) {
      PodShare share = RandomShare(profile);
      share.gang = InGang{.number = gang, .gpus = static_cast<double>(members), .needs = {}};
      nodes.shares[*rc::gen::inRange<size_t>(0, nodes.shares.size())].push_back(share);
    }
  }
  return nodes;
}

double Total(const Nodes& nodes, const NodeAmounts& amounts) {
  std::vector<PodShare> shares;
  std::vector<ResourceVector> all;
  for (size_t node = 0; node < amounts.size(); ++node) {
    shares.insert(shares.end(), nodes.shares[node].begin(), nodes.shares[node].end());
    all.insert(all.end(), amounts[node].begin(), amounts[node].end());
  }
  return TotalThroughput(shares, all);
}

void CheckThatItFits(const Nodes& nodes, const NodeAmounts& amounts) {
  RC_ASSERT(amounts.size() == nodes.shares.size());
  for (size_t node = 0; node < amounts.size(); ++node) {
    ResourceVector left = nodes.spare[node];
    RC_ASSERT(amounts[node].size() == nodes.shares[node].size());
    for (size_t i = 0; i < amounts[node].size(); ++i) {
      const PodShare& share = nodes.shares[node][i];
      RC_ASSERT(amounts[node][i].cpu >= share.least.cpu);
      RC_ASSERT(amounts[node][i].memory >= share.least.memory);
      left += share.current - amounts[node][i];
    }
    RC_ASSERT(left.cpu >= MilliCpu(0));
    RC_ASSERT(left.memory >= Bytes(0));
  }
}

void CheckThatMembersHaveTheSame(const Nodes& nodes, const NodeAmounts& amounts) {
  std::map<size_t, ResourceVector> of_gang;
  for (size_t node = 0; node < amounts.size(); ++node) {
    for (size_t i = 0; i < amounts[node].size(); ++i) {
      const auto& gang = nodes.shares[node][i].gang;
      if (!gang) continue;
      const auto [known, is_first] = of_gang.try_emplace(gang->number, amounts[node][i]);
      RC_ASSERT(known->second == amounts[node][i]);
    }
  }
}

// Divides every node without regard to the others. A gang can only use the smallest of the amounts
// that its members get.
NodeAmounts NodeByNode(const Nodes& nodes) {
  NodeAmounts amounts;
  for (size_t node = 0; node < nodes.shares.size(); ++node) {
    std::vector<PodShare> alone = nodes.shares[node];
    for (PodShare& share : alone) share.gang.reset();
    amounts.push_back(Regrow(alone, nodes.spare[node]));
  }
  return amounts;
}

// Finds the best result with whole cores by exhaustive search: for all amounts of the gangs, it
// divides each node's other shares in every way.
class Everything {
 public:
  explicit Everything(const Nodes& nodes) : nodes_(nodes) {
    for (size_t node = 0; node < nodes.shares.size(); ++node) {
      ResourceVector all = nodes.spare[node];
      for (const PodShare& share : nodes.shares[node]) {
        all += share.current;
        if (share.gang) members_[share.gang->number].push_back(share);
      }
      capacity_.push_back(all.cpu);
    }
  }

  double Best() {
    double best = 0;
    TryGangs(members_.begin(), 0, best);
    return best;
  }

 private:
  using Gangs = std::map<size_t, std::vector<PodShare>>;

  void TryGangs(Gangs::const_iterator gang, double worth, double& best) {
    if (gang == members_.end()) {
      for (size_t node = 0; node < nodes_.shares.size(); ++node) {
        const auto others = BestOfOthers(node);
        if (!others) return;
        worth += *others;
      }
      best = std::max(best, worth);
      return;
    }
    const std::vector<PodShare>& shares = gang->second;
    for (MilliCpu cpu = shares.front().least.cpu; cpu <= Cores(8); cpu += Cores(1)) {
      given_[gang->first] = cpu;
      const std::vector<ResourceVector> amounts(shares.size(), {Gpus(1), cpu, GiB(1)});
      TryGangs(std::next(gang), worth + TotalThroughput(shares, amounts), best);
    }
  }

  std::optional<double> BestOfOthers(size_t node) const {
    MilliCpu left = capacity_[node];
    std::vector<PodShare> others;
    for (const PodShare& share : nodes_.shares[node]) {
      if (share.gang) {
        left -= given_.at(share.gang->number);
      } else {
        others.push_back(share);
      }
    }
    return left < MilliCpu(0) ? std::nullopt : BestWithin(others, left);
  }

  static std::optional<double> BestWithin(std::span<const PodShare> shares, MilliCpu left) {
    if (shares.empty()) return 0;
    std::optional<double> best;
    for (MilliCpu cpu = shares.front().least.cpu; cpu <= std::min(left, Cores(8));
         cpu += Cores(1)) {
      const auto rest = BestWithin(shares.subspan(1), left - cpu);
      if (!rest) continue;
      const double own = NormalizedThroughput(shares.front(), {Gpus(1), cpu, GiB(1)});
      best = std::max(best.value_or(0), own + *rest);
    }
    return best;
  }

  const Nodes& nodes_;
  std::vector<MilliCpu> capacity_;
  Gangs members_;
  std::map<size_t, MilliCpu> given_;
};

RC_GTEST_PROP(RegrowTogetherProperty, MembersHaveTheSameAndNoNodeGivesMoreThanItHas, ()) {
  const Nodes nodes = RandomNodes(3);
  const NodeAmounts amounts = RegrowTogether(nodes.View());
  CheckThatItFits(nodes, amounts);
  CheckThatMembersHaveTheSame(nodes, amounts);
}

RC_GTEST_PROP(RegrowTogetherProperty, IsAtLeastTheBetterOfNodeByNodeAndThePresent, ()) {
  const Nodes nodes = RandomNodes(3);
  NodeAmounts present;
  for (const auto& shares : nodes.shares) present.push_back(CurrentOf(shares));
  const double total = Total(nodes, RegrowTogether(nodes.View()));
  const double by_node = Total(nodes, NodeByNode(nodes));
  RC_CLASSIFY(total > by_node + kEqual, "better");
  RC_ASSERT(total >= by_node - kEqual);
  RC_ASSERT(total >= Total(nodes, present) - kEqual);
}

// The amounts that the division tries include whole cores.
RC_GTEST_PROP(RegrowTogetherProperty, IsTheOptimumForOneGang, ()) {
  const Nodes nodes = RandomNodes(1);
  const double best = Everything(nodes).Best();
  const double total = Total(nodes, RegrowTogether(nodes.View()));
  RC_ASSERT(total >= best - kEqual);
}

RC_GTEST_PROP(RegrowTogetherProperty, IsNearTheOptimumForSeveralGangs, ()) {
  const Nodes nodes = RandomNodes(2);
  const double best = Everything(nodes).Best();
  const double total = Total(nodes, RegrowTogether(nodes.View()));
  RC_CLASSIFY(total >= best - kEqual, "the best");
  RC_ASSERT(total >= 0.9 * best);
}

RC_GTEST_PROP(ReclaimProperty, TakesFromMembersOnTheNodeAlikeAndNoMoreThanTheLack, ()) {
  Nodes nodes = RandomNodes(2);
  for (auto& shares : nodes.shares) {
    // All members of a gang on a node have the same amount.
    std::map<size_t, MilliCpu> has;
    for (PodShare& share : shares) {
      if (!share.gang) continue;
      share.current.cpu = has.try_emplace(share.gang->number, share.current.cpu).first->second;
    }
    const ResourceVector lacking{Gpus(0), MilliCpu(*rc::gen::inRange(1, 4000)), Bytes(0)};
    ResourceVector surplus;
    for (const PodShare& share : shares) surplus += share.current - share.least;
    if (shares.empty()) continue;
    const auto amounts = Reclaim(shares, lacking);
    RC_ASSERT(amounts.has_value() == (surplus.cpu >= lacking.cpu));
    if (!amounts) continue;
    MilliCpu freed;
    std::map<size_t, MilliCpu> given;
    for (size_t i = 0; i < shares.size(); ++i) {
      RC_ASSERT((*amounts)[i].cpu >= shares[i].least.cpu);
      RC_ASSERT((*amounts)[i].cpu <= shares[i].current.cpu);
      freed += shares[i].current.cpu - (*amounts)[i].cpu;
      if (!shares[i].gang) continue;
      const auto [known, is_first] = given.try_emplace(shares[i].gang->number, (*amounts)[i].cpu);
      RC_ASSERT(known->second == (*amounts)[i].cpu);
    }
    RC_ASSERT(freed >= lacking.cpu);
    // Only rounding of the members' common amount may free more.
    RC_ASSERT(freed <= lacking.cpu + MilliCpu(static_cast<int64_t>(shares.size())));
  }
}

}  // namespace
}  // namespace synergy::testing
