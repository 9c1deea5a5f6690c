// Tests nodes that are divided together, with gangs across them, against each node by itself and
// against trying everything.

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

// Insensitive, linear, and one that flattens.
const std::vector<JobProfile>& OfCpu() {
  static const std::vector<JobProfile> profiles = {
      *JobProfile::Create(Gpus(1), {{Cores(1), GiB(1), 5}, {Cores(8), GiB(1), 5.2}}),
      *JobProfile::Create(Gpus(1), {{Cores(1), GiB(1), 1}, {Cores(8), GiB(1), 8}}),
      *JobProfile::Create(Gpus(1),
                          {{Cores(1), GiB(1), 1}, {Cores(3), GiB(1), 6}, {Cores(8), GiB(1), 7}})};
  return profiles;
}

// Makes nodes with tenants, some of them members of gangs, which are on one node or several.
struct Nodes {
  std::vector<std::vector<Tenant>> tenants;
  std::vector<ResourceVector> spare;

  std::vector<DividedNode> View() const {
    std::vector<DividedNode> view;
    for (size_t i = 0; i < tenants.size(); ++i) view.push_back({tenants[i], spare[i]});
    return view;
  }
};

Tenant RandomTenant(const JobProfile& profile) {
  Tenant tenant;
  tenant.profile = &profile;
  tenant.fair = {Gpus(1), Cores(3), GiB(1)};
  tenant.least = {Gpus(1), Cores(2), GiB(1)};
  tenant.current = tenant.least;
  tenant.current.cpu += Cores(*rc::gen::inRange(0, 4));
  tenant.most = {Gpus(1), Cores(8), GiB(1)};
  return tenant;
}

Nodes RandomNodes(size_t most_gangs) {
  Nodes nodes;
  nodes.tenants.resize(*rc::gen::inRange<size_t>(1, 4));
  for (auto& tenants : nodes.tenants) {
    for (int64_t i = *rc::gen::inRange(0, 3); i > 0; --i) {
      tenants.push_back(RandomTenant(OfCpu()[*rc::gen::inRange<size_t>(0, OfCpu().size())]));
    }
    nodes.spare.push_back({Gpus(0), Cores(*rc::gen::inRange(0, 8)), GiB(0)});
  }
  for (size_t gang = *rc::gen::inRange<size_t>(1, most_gangs + 1); gang > 0; --gang) {
    const JobProfile& profile = OfCpu()[*rc::gen::inRange<size_t>(0, OfCpu().size())];
    const auto members = *rc::gen::inRange<size_t>(2, 4);
    for (size_t i = 0; i < members; ++i) {
      Tenant tenant = RandomTenant(profile);
      tenant.gang = InGang{.number = gang, .gpus = static_cast<double>(members), .needs = {}};
      nodes.tenants[*rc::gen::inRange<size_t>(0, nodes.tenants.size())].push_back(tenant);
    }
  }
  return nodes;
}

double Total(const Nodes& nodes, const NodeAmounts& amounts) {
  std::vector<Tenant> tenants;
  std::vector<ResourceVector> all;
  for (size_t node = 0; node < amounts.size(); ++node) {
    tenants.insert(tenants.end(), nodes.tenants[node].begin(), nodes.tenants[node].end());
    all.insert(all.end(), amounts[node].begin(), amounts[node].end());
  }
  return TotalThroughput(tenants, all);
}

void CheckThatItFits(const Nodes& nodes, const NodeAmounts& amounts) {
  RC_ASSERT(amounts.size() == nodes.tenants.size());
  for (size_t node = 0; node < amounts.size(); ++node) {
    ResourceVector left = nodes.spare[node];
    RC_ASSERT(amounts[node].size() == nodes.tenants[node].size());
    for (size_t i = 0; i < amounts[node].size(); ++i) {
      const Tenant& tenant = nodes.tenants[node][i];
      RC_ASSERT(amounts[node][i].cpu >= tenant.least.cpu);
      RC_ASSERT(amounts[node][i].memory >= tenant.least.memory);
      left += tenant.current - amounts[node][i];
    }
    RC_ASSERT(left.cpu >= MilliCpu(0));
    RC_ASSERT(left.memory >= Bytes(0));
  }
}

void CheckThatMembersHaveTheSame(const Nodes& nodes, const NodeAmounts& amounts) {
  std::map<size_t, ResourceVector> of_gang;
  for (size_t node = 0; node < amounts.size(); ++node) {
    for (size_t i = 0; i < amounts[node].size(); ++i) {
      const auto& gang = nodes.tenants[node][i].gang;
      if (!gang) continue;
      const auto [known, is_first] = of_gang.try_emplace(gang->number, amounts[node][i]);
      RC_ASSERT(known->second == amounts[node][i]);
    }
  }
}

// Divides every node without regard to the others: a gang uses the least of the amounts of its
// members.
NodeAmounts NodeByNode(const Nodes& nodes) {
  NodeAmounts amounts;
  for (size_t node = 0; node < nodes.tenants.size(); ++node) {
    std::vector<Tenant> alone = nodes.tenants[node];
    for (Tenant& tenant : alone) tenant.gang.reset();
    amounts.push_back(Regrow(alone, nodes.spare[node]));
  }
  return amounts;
}

// Returns the most with whole cores for everybody: for any amounts of the gangs, each node's others
// are divided in every way.
class Everything {
 public:
  explicit Everything(const Nodes& nodes) : nodes_(nodes) {
    for (size_t node = 0; node < nodes.tenants.size(); ++node) {
      ResourceVector all = nodes.spare[node];
      for (const Tenant& tenant : nodes.tenants[node]) {
        all += tenant.current;
        if (tenant.gang) members_[tenant.gang->number].push_back(tenant);
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
  using Gangs = std::map<size_t, std::vector<Tenant>>;

  void TryGangs(Gangs::const_iterator gang, double worth, double& best) {
    if (gang == members_.end()) {
      for (size_t node = 0; node < nodes_.tenants.size(); ++node) {
        const auto others = BestOfOthers(node);
        if (!others) return;
        worth += *others;
      }
      best = std::max(best, worth);
      return;
    }
    const std::vector<Tenant>& tenants = gang->second;
    for (MilliCpu cpu = tenants.front().least.cpu; cpu <= Cores(8); cpu += Cores(1)) {
      given_[gang->first] = cpu;
      const std::vector<ResourceVector> amounts(tenants.size(), {Gpus(1), cpu, GiB(1)});
      TryGangs(std::next(gang), worth + TotalThroughput(tenants, amounts), best);
    }
  }

  std::optional<double> BestOfOthers(size_t node) const {
    MilliCpu left = capacity_[node];
    std::vector<Tenant> others;
    for (const Tenant& tenant : nodes_.tenants[node]) {
      if (tenant.gang) {
        left -= given_.at(tenant.gang->number);
      } else {
        others.push_back(tenant);
      }
    }
    return left < MilliCpu(0) ? std::nullopt : BestWithin(others, left);
  }

  static std::optional<double> BestWithin(std::span<const Tenant> tenants, MilliCpu left) {
    if (tenants.empty()) return 0;
    std::optional<double> best;
    for (MilliCpu cpu = tenants.front().least.cpu; cpu <= std::min(left, Cores(8));
         cpu += Cores(1)) {
      const auto rest = BestWithin(tenants.subspan(1), left - cpu);
      if (!rest) continue;
      const double own = NormalizedThroughput(tenants.front(), {Gpus(1), cpu, GiB(1)});
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

RC_GTEST_PROP(RegrowTogetherProperty, IsNoWorseThanNodeByNodeNorThanThePresent, ()) {
  const Nodes nodes = RandomNodes(3);
  NodeAmounts present;
  for (const auto& tenants : nodes.tenants) present.push_back(CurrentOf(tenants));
  const double total = Total(nodes, RegrowTogether(nodes.View()));
  const double by_node = Total(nodes, NodeByNode(nodes));
  RC_CLASSIFY(total > by_node + kEqual, "better");
  RC_ASSERT(total >= by_node - kEqual);
  RC_ASSERT(total >= Total(nodes, present) - kEqual);
}

// Whole cores are among the amounts that are tried.
RC_GTEST_PROP(RegrowTogetherProperty, OfOneGangIsTheBestThereIs, ()) {
  const Nodes nodes = RandomNodes(1);
  const double best = Everything(nodes).Best();
  const double total = Total(nodes, RegrowTogether(nodes.View()));
  RC_ASSERT(total >= best - kEqual);
}

RC_GTEST_PROP(RegrowTogetherProperty, OfSeveralGangsIsNotFarFromTheBest, ()) {
  const Nodes nodes = RandomNodes(2);
  const double best = Everything(nodes).Best();
  const double total = Total(nodes, RegrowTogether(nodes.View()));
  RC_CLASSIFY(total >= best - kEqual, "the best");
  RC_ASSERT(total >= 0.9 * best);
}

RC_GTEST_PROP(ReclaimProperty, OfAGangTakesFromAllOnTheNodeAlikeAndNoMoreThanLacks, ()) {
  Nodes nodes = RandomNodes(2);
  for (auto& tenants : nodes.tenants) {
    // Members of a gang on one node have the same amount.
    std::map<size_t, MilliCpu> has;
    for (Tenant& tenant : tenants) {
      if (!tenant.gang) continue;
      tenant.current.cpu = has.try_emplace(tenant.gang->number, tenant.current.cpu).first->second;
    }
    const ResourceVector lacking{Gpus(0), MilliCpu(*rc::gen::inRange(1, 4000)), Bytes(0)};
    ResourceVector surplus;
    for (const Tenant& tenant : tenants) surplus += tenant.current - tenant.least;
    if (tenants.empty()) continue;
    const auto amounts = Reclaim(tenants, lacking);
    RC_ASSERT(amounts.has_value() == (surplus.cpu >= lacking.cpu));
    if (!amounts) continue;
    MilliCpu freed;
    std::map<size_t, MilliCpu> given;
    for (size_t i = 0; i < tenants.size(); ++i) {
      RC_ASSERT((*amounts)[i].cpu >= tenants[i].least.cpu);
      RC_ASSERT((*amounts)[i].cpu <= tenants[i].current.cpu);
      freed += tenants[i].current.cpu - (*amounts)[i].cpu;
      if (!tenants[i].gang) continue;
      const auto [known, is_first] = given.try_emplace(tenants[i].gang->number, (*amounts)[i].cpu);
      RC_ASSERT(known->second == (*amounts)[i].cpu);
    }
    RC_ASSERT(freed >= lacking.cpu);
    // At most the rounding of the amount that one gang's members share.
    RC_ASSERT(freed <= lacking.cpu + MilliCpu(static_cast<int64_t>(tenants.size())));
  }
}

}  // namespace
}  // namespace synergy::testing
