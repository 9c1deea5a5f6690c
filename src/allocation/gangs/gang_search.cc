#include "allocation/gangs/gang_search.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "cluster/state/fit.h"

namespace synergy {
namespace {

// A step tries one member on one node.
constexpr int kMostMoves = 20'000;
constexpr int kMostTrials = 20'000;

class PlaceSearch {
 public:
  PlaceSearch(const std::vector<std::shared_ptr<const Pod>>& members,
              const std::vector<size_t>& order, std::vector<GangSite> sites,
              const std::vector<ShapeBound>& bounds, MemberSeparation& separation)
      : members_(members),
        order_(order),
        sites_(std::move(sites)),
        bounds_(bounds),
        separation_(separation),
        at_(members.size()),
        on_(sites_.size()) {}

  std::vector<NodeIndex> Search() {
    std::vector<NodeIndex> places;
    steps_ = kMostMoves;
    if (MoveUntilAllFit()) places = Places();
    Clear();
    steps_ = kMostTrials;
    if (places.empty() && Try(0)) places = Places();
    Clear();
    return places;
  }

 private:
  bool MoveUntilAllFit() {
    return std::all_of(order_.begin(), order_.end(),
                       [this](size_t member) {
                         seen_.assign(sites_.size(), false);
                         return Augment(member);
                       }) &&
           separation_.SpreadMayHold(0);
  }

  bool Augment(size_t member) {
    for (size_t site = 0; site < sites_.size(); ++site) {
      if (!May(member, site)) continue;
      Put(member, site);
      return true;
    }
    for (size_t site = 0; site < sites_.size(); ++site) {
      if (seen_[site] || !sites_[site].open_to[member]) continue;
      seen_[site] = true;
      // A member on another node of the same domain may also be in the way.
      for (const size_t other : order_) {
        const std::optional<size_t> had = at_[other];
        if (!had || (separation_.empty() && *had != site)) continue;
        Take(other);
        if (May(member, site)) {
          Put(member, site);
          if (Augment(other)) return true;
          Take(member);
        }
        Put(other, *had);
      }
    }
    return false;
  }

  bool Try(size_t next) {
    if (!separation_.SpreadMayHold(order_.size() - next)) return false;
    if (next == order_.size()) return true;
    const size_t member = order_[next];
    for (size_t site = 0; site < sites_.size(); ++site) {
      if (!May(member, site)) continue;
      Put(member, site);
      if (Try(next + 1)) return true;
      Take(member);
      if (steps_ <= 0) return false;
    }
    return false;
  }

  bool May(size_t member, size_t site) {
    if (steps_ <= 0) return false;
    --steps_;
    const GangSite& there = sites_[site];
    return there.open_to[member] && CheckFit(*members_[member], there.state).none() &&
           IsWithinBounds(member, site) && separation_.AllowsInTheEnd(member, there.node);
  }

  bool IsWithinBounds(size_t member, size_t site) const {
    return std::all_of(bounds_.begin(), bounds_.end(), [&](const ShapeBound& bound) {
      if (bound.node != sites_[site].node || !IsAlike(*bound.shape, *members_[member])) return true;
      const auto alike = std::count_if(on_[site].begin(), on_[site].end(), [&](size_t other) {
        return IsAlike(*bound.shape, *members_[other]);
      });
      return static_cast<size_t>(alike) < bound.most;
    });
  }

  void Put(size_t member, size_t site) {
    at_[member] = site;
    on_[site].push_back(member);
    sites_[site].state = WithAmounts(std::move(sites_[site].state), *members_[member]);
    separation_.Put(member, sites_[site].node);
  }
  void Take(size_t member) {
    const size_t site = *std::exchange(at_[member], std::nullopt);
    std::erase(on_[site], member);
    sites_[site].state = WithoutAmounts(std::move(sites_[site].state), *members_[member]);
    separation_.Take(member, sites_[site].node);
  }
  void Clear() {
    for (size_t member = 0; member < at_.size(); ++member) {
      if (at_[member]) Take(member);
    }
  }

  std::vector<NodeIndex> Places() const {
    std::vector<NodeIndex> places;
    for (const auto& site : at_) places.push_back(sites_[*site].node);
    return places;
  }

  const std::vector<std::shared_ptr<const Pod>>& members_;
  const std::vector<size_t>& order_;
  std::vector<GangSite> sites_;
  const std::vector<ShapeBound>& bounds_;
  MemberSeparation& separation_;
  std::vector<std::optional<size_t>> at_;  // the site of each member
  std::vector<std::vector<size_t>> on_;    // by site
  std::vector<bool> seen_;                 // by site, along the path of one member
  int steps_ = 0;
};

}  // namespace

NodeState WithAmounts(NodeState state, const Pod& pod) {
  state.requested += pod.requests.main;
  state.wanted += pod.PlanningDemand();
  ++state.pods;
  if (!pod.requests.other.empty()) {
    auto detail = std::make_shared<NodeDetail>(*state.detail);
    detail->requested.Add(pod.requests.other);
    state.detail = std::move(detail);
  }
  return state;
}

NodeState WithoutAmounts(NodeState state, const Pod& pod) {
  state.requested -= pod.requests.main;
  state.wanted -= pod.PlanningDemand();
  --state.pods;
  if (!pod.requests.other.empty()) {
    auto detail = std::make_shared<NodeDetail>(*state.detail);
    detail->requested.Subtract(pod.requests.other);
    state.detail = std::move(detail);
  }
  return state;
}

std::vector<NodeIndex> SearchPlaces(const std::vector<std::shared_ptr<const Pod>>& members,
                                    const std::vector<size_t>& order, std::vector<GangSite> sites,
                                    const std::vector<ShapeBound>& bounds,
                                    MemberSeparation& separation) {
  return PlaceSearch(members, order, std::move(sites), bounds, separation).Search();
}

}  // namespace synergy
