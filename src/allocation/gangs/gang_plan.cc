#include "allocation/gangs/gang_plan.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "allocation/gangs/gang_search.h"
#include "allocation/gangs/member_separation.h"

namespace synergy {
namespace {

bool IsPlaceholder(const Pod& pod) { return pod.fungible != nullptr && pod.fungible->placeholder; }

// Members with the same requests fit on the same nodes.
bool AskForTheSame(const Pod& a, const Pod& b) {
  return a.requests == b.requests && a.gpu_product == b.gpu_product &&
         a.tolerates_unschedulable == b.tolerates_unschedulable &&
         IsPlaceholder(a) == IsPlaceholder(b);
}

class GangPlanner {
 public:
  using Others = MemberSeparation::Others;

  GangPlanner(const ClusterSnapshot& snapshot,
              const std::vector<std::shared_ptr<const Pod>>& members, const ReserveRule& reserve,
              const GangTerms& terms, std::span<const NodeIndex> among,
              const std::set<std::string>& but, const NodeAsIf& as_if, Others others,
              const std::set<std::string>& leaving = {})
      : snapshot_(snapshot),
        members_(members),
        reserve_(reserve),
        terms_(terms),
        among_(among),
        uids_(but),
        places_open_(members.size()) {
    for (const auto& member : members) {
      uids_.insert(member->uid);
      shape_of_.push_back(ShapeOf(*member));
      priority_ = std::min(priority_, member->priority);
    }
    for (const NodeIndex node : among) {
      if (!snapshot.node(node).exists) continue;
      const auto most = terms.most_gpus.find(node);
      GangSite site{.node = node,
                    .state = AsMembersFindIt(as_if(node), most == terms.most_gpus.end()
                                                              ? std::nullopt
                                                              : std::optional(most->second)),
                    .open_to = {}};
      if (Opens(site)) nodes_.push_back({std::move(site), {}});
    }
    not_apart_from_ = uids_;
    not_apart_from_.insert(leaving.begin(), leaving.end());
    separation_.emplace(snapshot, members, not_apart_from_, others);
  }

  GangPlan Plan() {
    const std::vector<size_t> order = InOrder();
    GangPlan plan = Fill(order);
    if (!plan.places.empty() || !MayHelpToSearch()) return plan;
    std::vector<GangSite> sites;
    for (Entry& entry : nodes_) sites.push_back(entry.site);
    plan.places = SearchPlaces(members_, order, std::move(sites), terms_.bounds, *separation_);
    if (!plan.places.empty()) plan = {.places = std::move(plan.places), .fitting = members_.size()};
    return plan;
  }

 private:
  struct Entry {
    GangSite site;
    std::vector<size_t> members;  // the waiting members that have their places there
  };
  // The waiting members that a node takes.
  struct Batch {
    Entry* entry = nullptr;
    std::vector<size_t> taken;
    int64_t gpus = 0;
    NodeState filled;
  };

  // Returns the node without the members, but with the pods that are nominated to it. GPUs that no
  // member may use count as requested.
  NodeState AsMembersFindIt(const NodeState& node, std::optional<Gpus> most) const {
    NodeState state = node;
    for (const auto& pod : node.detail->pods) {
      if (uids_.contains(pod->uid)) state = WithoutPod(state, *pod);
    }
    for (const auto& pod : node.detail->nominated) {
      if (pod->priority >= priority_ && !uids_.contains(pod->uid)) state = WithPod(state, pod);
    }
    if (most) {
      const Gpus closed = std::max(state.Free().gpus - std::max(*most, Gpus(0)), Gpus(0));
      state.requested.gpus += closed;
      state.wanted.gpus += closed;
    }
    return state;
  }

  // Returns the index of the pod's shape in `shapes_`, after adding a new shape.
  size_t ShapeOf(const Pod& pod) {
    const auto known = std::find_if(shapes_.begin(), shapes_.end(),
                                    [&](const Pod* shape) { return AskForTheSame(*shape, pod); });
    if (known != shapes_.end()) return static_cast<size_t>(known - shapes_.begin());
    shapes_.push_back(&pod);
    return shapes_.size() - 1;
  }

  // Finds the members that may use the node. Returns whether there are any.
  bool Opens(GangSite& site) {
    std::vector<bool> fits(shapes_.size());
    for (size_t shape = 0; shape < shapes_.size(); ++shape) {
      fits[shape] = CheckFit(*shapes_[shape], site.state).none();
    }
    if (std::find(fits.begin(), fits.end(), true) == fits.end()) return false;
    bool any = false;
    site.open_to.resize(members_.size());
    for (size_t member = 0; member < members_.size(); ++member) {
      if (!fits[shape_of_[member]] || !terms_.may_go(member, site.node)) continue;
      site.open_to[member] = any = true;
      ++places_open_[member];
    }
    return any;
  }

  // Returns the members with the fewest places first, then the largest.
  std::vector<size_t> InOrder() const {
    std::vector<size_t> order(members_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    const auto key = [this](size_t member) {
      const ResourceVector& asked = members_[member]->requests.main;
      return std::tuple(places_open_[member], -asked.gpus.count(), -asked.cpu.count(),
                        -asked.memory.count());
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return key(a) < key(b); });
    return order;
  }

  // Plans places for as many members as possible, one node after another. Leaves the nodes
  // unchanged.
  GangPlan Fill(std::vector<size_t> waiting) {
    GangPlan plan;
    std::vector<NodeState> before;
    for (const Entry& entry : nodes_) before.push_back(entry.site.state);
    std::vector<NodeIndex> places(members_.size());
    while (!waiting.empty()) {
      Batch best;
      for (Entry& entry : nodes_) {
        Batch batch = Fill(entry, waiting);
        if (batch.taken.empty() || batch.gpus < best.gpus) continue;
        if (batch.gpus > best.gpus || best.taken.empty() || Better(batch, best)) {
          best = std::move(batch);
        }
      }
      if (best.taken.empty()) break;
      for (const size_t member : best.taken) {
        places[member] = best.entry->site.node;
        best.entry->members.push_back(member);
        separation_->Put(member, best.entry->site.node);
      }
      std::erase_if(waiting, [&](size_t member) {
        return std::find(best.taken.begin(), best.taken.end(), member) != best.taken.end();
      });
      best.entry->site.state = std::move(best.filled);
    }
    plan.fitting = members_.size() - waiting.size();
    if (waiting.empty()) {
      plan.places = std::move(places);
    } else {
      DescribeLack(waiting.front(), plan);
    }
    for (size_t i = 0; i < nodes_.size(); ++i) {
      Entry& entry = nodes_[i];
      for (const size_t member : std::exchange(entry.members, {}))
        separation_->Take(member, entry.site.node);
      entry.site.state = std::move(before[i]);
    }
    return plan;
  }

  // Returns the members that the node takes, beside those already planned there.
  Batch Fill(Entry& entry, const std::vector<size_t>& waiting) {
    Batch batch{.entry = &entry, .taken = {}, .gpus = 0, .filled = entry.site.state};
    std::vector<bool> too_large(shapes_.size());
    for (const size_t member : waiting) {
      const Pod& pod = *members_[member];
      if (too_large[shape_of_[member]]) continue;
      if (!CheckFit(pod, batch.filled).none()) {
        too_large[shape_of_[member]] = true;
        continue;
      }
      if (!entry.site.open_to[member] || !IsWithinBounds(member, batch)) continue;
      if (!separation_->Allows(member, entry.site.node)) continue;
      separation_->Put(member, entry.site.node);
      batch.filled = WithAmounts(std::move(batch.filled), pod);
      batch.taken.push_back(member);
      batch.gpus += pod.requests.main.gpus.count();
    }
    for (const size_t member : batch.taken) separation_->Take(member, entry.site.node);
    return batch;
  }

  bool IsWithinBounds(size_t member, const Batch& batch) const {
    return std::all_of(terms_.bounds.begin(), terms_.bounds.end(), [&](const ShapeBound& bound) {
      if (bound.node != batch.entry->site.node || !IsAlike(*bound.shape, *members_[member]))
        return true;
      const auto is_alike = [&](size_t other) { return IsAlike(*bound.shape, *members_[other]); };
      const std::vector<size_t>& there = batch.entry->members;
      return std::count_if(there.begin(), there.end(), is_alike) +
                 std::count_if(batch.taken.begin(), batch.taken.end(), is_alike) <
             static_cast<std::ptrdiff_t>(bound.most);
    });
  }

  // Compares two nodes that take the same number of GPUs.
  bool Better(const Batch& a, const Batch& b) const {
    const FitRank rank_a = Rank(a);
    const FitRank rank_b = Rank(b);
    if (rank_a != rank_b) return rank_a < rank_b;
    return a.entry->site.state.detail->name < b.entry->site.state.detail->name;
  }

  FitRank Rank(const Batch& batch) const {
    Pod whole;
    ResourceVector demand;
    StorageAsk storage{.known = terms_.storage};
    for (const size_t member : batch.taken) {
      whole.requests.main += members_[member]->requests.main;
      demand += members_[member]->PlanningDemand();
      storage.need += AskOfStorage(*members_[member], terms_.storage).need;
    }
    whole.demand = demand;
    return BestFit(whole, snapshot_, reserve_, storage).Rank(batch.entry->site.state);
  }

  // Returns whether another order may find a plan. Members that are alike and may go to the same
  // nodes have only one order. No order helps if a member may go nowhere, or only to nodes with too
  // few GPUs.
  bool MayHelpToSearch() const {
    if (nodes_.size() < 2) return false;
    if (*std::min_element(places_open_.begin(), places_open_.end()) == 0) return false;
    Gpus needed;
    Gpus free;
    for (const auto& member : members_) needed += member->requests.main.gpus;
    for (const Entry& entry : nodes_) free += std::max(entry.site.state.Free().gpus, Gpus(0));
    if (free < needed) return false;
    return shapes_.size() > 1 || !separation_->empty() || !terms_.bounds.empty() ||
           std::any_of(nodes_.begin(), nodes_.end(), [](const Entry& entry) {
             const std::vector<bool>& open = entry.site.open_to;
             return std::find(open.begin(), open.end(), false) != open.end();
           });
  }

  void DescribeLack(size_t member, GangPlan& plan) const {
    std::unordered_map<NodeIndex, const NodeState*> filled;
    for (const Entry& entry : nodes_) filled[entry.site.node] = &entry.site.state;
    for (const NodeIndex node : among_) {
      if (!snapshot_.node(node).exists || !terms_.may_go(member, node)) continue;
      const auto found = filled.find(node);
      const FitFailures failures = CheckFit(
          *members_[member], found == filled.end() ? snapshot_.node(node) : *found->second);
      // The node has room, but the pod must stay apart from others there.
      if (failures.none()) continue;
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
  const GangTerms& terms_;
  const std::span<const NodeIndex> among_;
  std::set<std::string> uids_;  // of pods to ignore
  std::set<std::string> not_apart_from_;
  std::vector<const Pod*> shapes_;  // one pod of each shape
  std::vector<size_t> shape_of_;    // by member
  int32_t priority_ = std::numeric_limits<int32_t>::max();
  std::vector<size_t> places_open_;  // by member: number of nodes that it may go to
  std::vector<Entry> nodes_;
  std::optional<MemberSeparation> separation_;
};

NodeState Emptied(const NodeState& node) {
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

bool IsAlike(const Pod& a, const Pod& b) {
  if (!AskForTheSame(a, b)) return false;
  if (a.separation == nullptr || b.separation == nullptr) return a.separation == b.separation;
  return *a.separation == *b.separation;
}

GangPlan PlanGang(const ClusterSnapshot& snapshot,
                  const std::vector<std::shared_ptr<const Pod>>& members,
                  const ReserveRule& reserve, const GangTerms& terms,
                  const std::set<std::string>& but) {
  std::vector<NodeIndex> all(snapshot.size());
  std::iota(all.begin(), all.end(), NodeIndex{0});
  return PlanGangAmong(snapshot, members, reserve, terms, all, but);
}

GangPlan PlanGangAmong(const ClusterSnapshot& snapshot,
                       const std::vector<std::shared_ptr<const Pod>>& members,
                       const ReserveRule& reserve, const GangTerms& terms,
                       std::span<const NodeIndex> nodes, const std::set<std::string>& but) {
  const auto as_it_is = [&snapshot](NodeIndex node) { return snapshot.node(node); };
  return GangPlanner(snapshot, members, reserve, terms, nodes, but, as_it_is,
                     GangPlanner::Others::kAll)
      .Plan();
}

GangPlan PlanGangOnEmpty(const ClusterSnapshot& snapshot,
                         const std::vector<std::shared_ptr<const Pod>>& members,
                         const ReserveRule& reserve, const GangTerms& terms,
                         std::span<const NodeIndex> nodes) {
  const auto emptied = [&snapshot](NodeIndex node) { return Emptied(snapshot.node(node)); };
  return GangPlanner(snapshot, members, reserve, terms, nodes, {}, emptied,
                     GangPlanner::Others::kNone)
      .Plan();
}

GangPlan PlanGangAsIf(const ClusterSnapshot& snapshot,
                      const std::vector<std::shared_ptr<const Pod>>& members,
                      const ReserveRule& reserve, const GangTerms& terms,
                      std::span<const NodeIndex> nodes, const NodeAsIf& as_if,
                      const std::set<std::string>& leaving) {
  return GangPlanner(snapshot, members, reserve, terms, nodes, {}, as_if, GangPlanner::Others::kAll,
                     leaving)
      .Plan();
}

}  // namespace synergy
