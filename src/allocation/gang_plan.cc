#include "allocation/gang_plan.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

namespace synergy {
namespace {

class GangPlanner {
 public:
  GangPlanner(const ClusterSnapshot& snapshot,
              const std::vector<std::shared_ptr<const Pod>>& members, const ReserveRule& reserve,
              const MayGo& may_go, std::span<const NodeIndex> among,
              const std::set<std::string>& but, const NodeAsIf& as_if)
      : snapshot_(snapshot),
        members_(members),
        reserve_(reserve),
        may_go_(may_go),
        among_(among),
        uids_(but) {
    for (const auto& member : members) {
      uids_.insert(member->uid);
      shape_of_.push_back(ShapeOf(*member));
    }
    for (const NodeIndex node : among) {
      if (!snapshot.node(node).exists) continue;
      NodeState state = WithoutMembers(as_if(node));
      if (TakesAny(node, state)) nodes_.push_back({node, std::move(state)});
    }
  }

  GangPlan Plan() {
    GangPlan plan;
    std::vector<NodeIndex> places(members_.size());
    std::vector<size_t> waiting = InOrder();
    while (!waiting.empty()) {
      Batch best;
      for (Entry& entry : nodes_) {
        Batch batch = Fill(entry, waiting);
        if (batch.taken.empty() || batch.gpus < best.gpus) continue;
        if (batch.gpus > best.gpus || best.taken.empty() || Better(batch, best)) {
          best = std::move(batch);
        }
      }
      if (best.taken.empty()) {
        plan.fitting = members_.size() - waiting.size();
        DescribeLack(waiting.front(), plan);
        return plan;
      }
      for (const size_t member : best.taken) places[member] = best.entry->node;
      std::erase_if(waiting, [&](size_t member) {
        return std::find(best.taken.begin(), best.taken.end(), member) != best.taken.end();
      });
      best.entry->state = std::move(best.filled);
    }
    plan.places = std::move(places);
    plan.fitting = members_.size();
    return plan;
  }

 private:
  struct Entry {
    NodeIndex node = 0;
    NodeState state;
  };
  // What of those who wait a node takes.
  struct Batch {
    Entry* entry = nullptr;
    std::vector<size_t> taken;
    int64_t gpus = 0;
    NodeState filled;
  };

  NodeState WithoutMembers(const NodeState& node) const {
    NodeState state = node;
    for (const auto& pod : node.detail->pods) {
      if (uids_.contains(pod->uid)) state = WithoutPod(state, *pod);
    }
    return state;
  }

  // Members of one shape fit on the same nodes: as a rule all are of one.
  size_t ShapeOf(const Pod& pod) {
    const auto is_placeholder = [](const Pod& each) {
      return each.fungible != nullptr && each.fungible->placeholder;
    };
    const auto same = [&](const Pod* shape) {
      return shape->requests == pod.requests && shape->gpu_product == pod.gpu_product &&
             shape->tolerates_unschedulable == pod.tolerates_unschedulable &&
             is_placeholder(*shape) == is_placeholder(pod);
    };
    const auto known = std::find_if(shapes_.begin(), shapes_.end(), same);
    if (known != shapes_.end()) return static_cast<size_t>(known - shapes_.begin());
    shapes_.push_back(&pod);
    return shapes_.size() - 1;
  }

  bool TakesAny(NodeIndex node, const NodeState& state) const {
    for (size_t shape = 0; shape < shapes_.size(); ++shape) {
      if (!CheckFit(*shapes_[shape], state).none()) continue;
      for (size_t member = 0; member < members_.size(); ++member) {
        if (shape_of_[member] == shape && may_go_(member, node)) return true;
      }
    }
    return false;
  }

  // The largest first: they have the fewest places.
  std::vector<size_t> InOrder() const {
    std::vector<size_t> order(members_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    const auto key = [this](size_t member) {
      const ResourceVector& asked = members_[member]->requests.main;
      return std::tuple(-asked.gpus.count(), -asked.cpu.count(), -asked.memory.count());
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return key(a) < key(b); });
    return order;
  }

  Batch Fill(Entry& entry, const std::vector<size_t>& waiting) const {
    Batch batch{.entry = &entry, .taken = {}, .gpus = 0, .filled = entry.state};
    std::vector<bool> too_large(shapes_.size());
    for (const size_t member : waiting) {
      const Pod& pod = *members_[member];
      if (too_large[shape_of_[member]]) continue;
      if (!CheckFit(pod, batch.filled).none()) {
        too_large[shape_of_[member]] = true;
        continue;
      }
      if (!may_go_(member, entry.node)) continue;
      batch.filled = Taking(std::move(batch.filled), pod);
      batch.taken.push_back(member);
      batch.gpus += pod.requests.main.gpus.count();
    }
    return batch;
  }

  // The amounts alone: who is on the node does not matter here.
  static NodeState Taking(NodeState state, const Pod& pod) {
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

  // Of two nodes that take as many GPUs.
  bool Better(const Batch& a, const Batch& b) const {
    const FitRank rank_a = Rank(a);
    const FitRank rank_b = Rank(b);
    if (rank_a != rank_b) return rank_a < rank_b;
    return a.entry->state.detail->name < b.entry->state.detail->name;
  }

  FitRank Rank(const Batch& batch) const {
    Pod whole;
    ResourceVector demand;
    for (const size_t member : batch.taken) {
      whole.requests.main += members_[member]->requests.main;
      demand += members_[member]->PlanningDemand();
    }
    whole.demand = demand;
    return BestFit(whole, snapshot_, reserve_).Rank(batch.entry->state);
  }

  void DescribeLack(size_t member, GangPlan& plan) const {
    std::unordered_map<NodeIndex, const NodeState*> filled;
    for (const Entry& entry : nodes_) filled[entry.node] = &entry.state;
    for (const NodeIndex node : among_) {
      if (!snapshot_.node(node).exists || !may_go_(member, node)) continue;
      const auto found = filled.find(node);
      const FitFailures failures = CheckFit(
          *members_[member], found == filled.end() ? snapshot_.node(node) : *found->second);
      if (plan.lacking && std::popcount(plan.lacking->bits()) <= std::popcount(failures.bits())) {
        continue;
      }
      plan.lacking = failures;
      plan.lacking_on = node;
    }
  }

  const ClusterSnapshot& snapshot_;
  const std::vector<std::shared_ptr<const Pod>>& members_;
  const ReserveRule& reserve_;
  const MayGo& may_go_;
  const std::span<const NodeIndex> among_;
  std::set<std::string> uids_;      // of pods that are thought away
  std::vector<const Pod*> shapes_;  // one of each
  std::vector<size_t> shape_of_;    // by member
  std::vector<Entry> nodes_;
};

NodeState WithoutAnybody(const NodeState& node) {
  NodeState state = node;
  state.requested = state.wanted = state.of_others = {};
  state.pods = 0;
  auto detail = std::make_shared<NodeDetail>(*node.detail);
  detail->requested = {};
  detail->pods.clear();
  detail->nominated.clear();
  state.detail = std::move(detail);
  return state;
}

}  // namespace

GangPlan PlanGang(const ClusterSnapshot& snapshot,
                  const std::vector<std::shared_ptr<const Pod>>& members,
                  const ReserveRule& reserve, const MayGo& may_go,
                  const std::set<std::string>& but) {
  std::vector<NodeIndex> all(snapshot.size());
  std::iota(all.begin(), all.end(), NodeIndex{0});
  return PlanGangAmong(snapshot, members, reserve, may_go, all, but);
}

GangPlan PlanGangAmong(const ClusterSnapshot& snapshot,
                       const std::vector<std::shared_ptr<const Pod>>& members,
                       const ReserveRule& reserve, const MayGo& may_go,
                       std::span<const NodeIndex> nodes, const std::set<std::string>& but) {
  const auto as_it_is = [&snapshot](NodeIndex node) { return snapshot.node(node); };
  return GangPlanner(snapshot, members, reserve, may_go, nodes, but, as_it_is).Plan();
}

GangPlan PlanGangOnEmpty(const ClusterSnapshot& snapshot,
                         const std::vector<std::shared_ptr<const Pod>>& members,
                         const ReserveRule& reserve, const MayGo& may_go,
                         std::span<const NodeIndex> nodes) {
  const auto emptied = [&snapshot](NodeIndex node) { return WithoutAnybody(snapshot.node(node)); };
  return PlanGangAsIf(snapshot, members, reserve, may_go, nodes, emptied);
}

GangPlan PlanGangAsIf(const ClusterSnapshot& snapshot,
                      const std::vector<std::shared_ptr<const Pod>>& members,
                      const ReserveRule& reserve, const MayGo& may_go,
                      std::span<const NodeIndex> nodes, const NodeAsIf& as_if) {
  return GangPlanner(snapshot, members, reserve, may_go, nodes, {}, as_if).Plan();
}

}  // namespace synergy
