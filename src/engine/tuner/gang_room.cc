#include "engine/tuner/gang_room.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "allocation/surplus.h"
#include "cluster/state/fit.h"

namespace synergy {
namespace {

// The maximum number of plans made to spare other pods.
constexpr int kMostTries = 24;

using Members = std::vector<std::shared_ptr<const Pod>>;

class GangRoomSearch {
 public:
  GangRoomSearch(const ClusterSnapshot& snapshot, const Members& members,
                 const ResourceVector& headroom, const ShareRules& rules, const MayGo& may_go,
                 const std::set<std::string>& but)
      : snapshot_(snapshot), members_(members), rules_(rules), but_(but) {
    reserve_.headroom = headroom;
    left_out_ = but;
    for (const auto& member : members) left_out_.insert(member->uid);
    terms_.may_go = [&snapshot, &members, &may_go](size_t member, NodeIndex node) {
      return MayGoTo(*members[member], snapshot.node(node)) && may_go(member, node);
    };
    for (const auto& member : members) {
      fewest_gpus_ = std::min(fewest_gpus_, member->requests.main.gpus);
      priority_ = std::min(priority_, member->priority);
    }
  }

  std::optional<GangRoom> Search() {
    GangRoom room;
    room.places = PlanGang(snapshot_, members_, reserve_, terms_, but_).places;
    if (!room.places.empty()) return room;
    all_.resize(snapshot_.size());
    std::iota(all_.begin(), all_.end(), NodeIndex{0});
    room.places = PlanWithCuts();
    if (room.places.empty()) return std::nullopt;
    SpareOthers(room.places);
    for (const auto& [node, lacking] : CutsFor(room.places)) {
      RoomPlan plan{.node = node, .node_shares = std::move(SharesOf(node))};
      auto reclaimed = Reclaim(plan.node_shares.shares, lacking);
      if (!reclaimed) return std::nullopt;
      plan.cost = CostOf(plan.node_shares.shares, *reclaimed);
      plan.amounts = *std::move(reclaimed);
      room.cuts.push_back(std::move(plan));
    }
    return room;
  }

 private:
  std::vector<NodeIndex> PlanWithCuts() {
    const auto cut = [this](NodeIndex node) { return AfterCuts(node); };
    return PlanGangAsIf(snapshot_, members_, reserve_, terms_, all_, cut).places;
  }

  // Returns the CPU and memory to cut on each node that needs cuts.
  std::map<NodeIndex, ResourceVector> CutsFor(const std::vector<NodeIndex>& places) const {
    std::map<NodeIndex, ResourceVector> taken;
    for (size_t i = 0; i < members_.size(); ++i) taken[places[i]] += members_[i]->requests.main;
    std::map<NodeIndex, ResourceVector> cuts;
    for (const auto& [node, amounts] : taken) {
      const ResourceVector lacking = Lacking(node, amounts);
      if (!(lacking == ResourceVector{})) cuts[node] = lacking;
    }
    return cuts;
  }

  // Reduces the cuts of a plan. A plan fills one node after another, so this function moves members
  // away from nodes that need cuts, first from the node with the most members.
  void SpareOthers(std::vector<NodeIndex>& places) {
    std::vector<NodeIndex> dear;
    for (const auto& [node, lacking] : CutsFor(places)) dear.push_back(node);
    const auto count_on = [&places](NodeIndex node) {
      return static_cast<size_t>(std::count(places.begin(), places.end(), node));
    };
    std::sort(dear.begin(), dear.end(), [&](NodeIndex a, NodeIndex b) {
      return std::pair(count_on(b), a) < std::pair(count_on(a), b);
    });
    const bool are_alike = std::all_of(members_.begin(), members_.end(), [&](const auto& member) {
      return IsAlike(*member, *members_.front());
    });
    if (!are_alike) return;
    int tries = kMostTries;
    for (const NodeIndex node : dear) {
      terms_.bounds.push_back({members_.front(), node, 0});
      size_t too_few = 0;
      size_t enough = count_on(node);
      for (bool first = true; (first || enough - too_few > 1) && enough > 0 && tries > 0; --tries) {
        const size_t most = first ? 0 : too_few + (enough - too_few) / 2;
        terms_.bounds.back().most = most;
        std::vector<NodeIndex> fewer = PlanWithCuts();
        (fewer.empty() ? too_few : enough) = most;
        if (!fewer.empty()) places = std::move(fewer);
        first = false;
      }
      terms_.bounds.back().most = enough;
    }
  }

  // Returns the node without the excluded pods, and without the places that members hold there.
  NodeState AsMembersFindIt(NodeIndex index) const {
    NodeState node = snapshot_.node(index);
    if (!node.exists) return node;
    for (const auto& pod : snapshot_.node(index).detail->pods) {
      if (left_out_.contains(pod->uid)) node = WithoutPod(node, *pod);
    }
    return node;
  }

  // Returns the node with all its shares cut as far as they may be now.
  NodeState AfterCuts(NodeIndex index) {
    NodeState node = AsMembersFindIt(index);
    if (!node.exists) return node;
    if (node.Free().gpus < fewest_gpus_) return node;
    for (const PodShare& share : SharesOf(index).shares)
      node.requested -= share.current - share.least;
    return node;
  }

  NodeShares& SharesOf(NodeIndex index) {
    const auto [known, is_new] = node_shares_.try_emplace(index);
    if (is_new) known->second = SharesOn(snapshot_.node(index), SharePurpose::kReclaim, rules_);
    return known->second;
  }

  // Returns the CPU and memory that the node lacks for `amounts` plus the pods nominated there.
  ResourceVector Lacking(NodeIndex index, const ResourceVector& amounts) const {
    const NodeState node = AsMembersFindIt(index);
    ResourceVector asked = amounts;
    for (const auto& pod : node.detail->nominated) {
      if (pod->priority >= priority_ && !left_out_.contains(pod->uid)) asked += pod->requests.main;
    }
    ResourceVector lacking = LargerOf(asked - node.Free(), {});
    lacking.gpus = Gpus(0);
    return lacking;
  }

  const ClusterSnapshot& snapshot_;
  const Members& members_;
  const ShareRules& rules_;
  const std::set<std::string>& but_;
  std::set<std::string> left_out_;  // `but_` plus the members
  ReserveRule reserve_;
  GangTerms terms_;
  Gpus fewest_gpus_ = Gpus(std::numeric_limits<int64_t>::max());
  int32_t priority_ = std::numeric_limits<int32_t>::max();
  std::vector<NodeIndex> all_;
  std::map<NodeIndex, NodeShares> node_shares_;
};

}  // namespace

std::optional<GangRoom> RoomForGang(const ClusterSnapshot& snapshot, const Members& members,
                                    const ResourceVector& headroom, const ShareRules& rules,
                                    const MayGo& may_go, const std::set<std::string>& but) {
  return GangRoomSearch(snapshot, members, headroom, rules, may_go, but).Search();
}

}  // namespace synergy
