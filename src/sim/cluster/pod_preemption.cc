#include "sim/cluster/pod_preemption.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>

#include "cluster/state/fit.h"

namespace synergy {
namespace {

struct Counted {
  std::shared_ptr<const Pod> pod;
  ResourceVector amounts;
};

// Returns the fewest pods of lower priority whose eviction makes room for `pod` on the node,
// sparing those of high priority first; empty if there are none. `node`: as kube-scheduler counts
// it.
std::vector<std::shared_ptr<const Pod>> Propose(const Pod& pod, NodeState node,
                                                const PodPreemption::CountPod& count_pod) {
  std::vector<Counted> lower;
  for (const auto& other : node.detail->pods) {
    if (other->priority >= pod.priority) continue;
    const std::optional<ResourceVector> amounts = count_pod(*other);
    if (!amounts) continue;
    lower.push_back({other, *amounts});
    node.requested -= *amounts;
  }
  if (lower.empty() || !CheckFit(pod, node).none()) return {};
  std::sort(lower.begin(), lower.end(), [](const Counted& a, const Counted& b) {
    return std::tuple(-int64_t{a.pod->priority}, a.pod->Key()) <
           std::tuple(-int64_t{b.pod->priority}, b.pod->Key());
  });
  std::vector<std::shared_ptr<const Pod>> victims;
  for (const Counted& other : lower) {
    node.requested += other.amounts;
    if (CheckFit(pod, node).none()) continue;
    node.requested -= other.amounts;
    victims.push_back(other.pod);
  }
  return victims;
}

// The lowest rank wins.
auto RankOf(const PodEvictions& evictions) {
  int64_t highest = std::numeric_limits<int64_t>::min();
  int64_t sum = 0;
  for (const auto& victim : evictions.victims) {
    highest = std::max<int64_t>(highest, victim->priority);
    // As in kube-scheduler, this makes the number of victims count for negative priorities, too.
    sum += int64_t{victim->priority} + std::numeric_limits<int32_t>::max() + 1;
  }
  return std::tuple(highest, sum, evictions.victims.size(), std::string_view(evictions.node));
}

}  // namespace

std::optional<PodEvictions> PodPreemption::Choose(const Pod& pod, const ClusterSnapshot& snapshot,
                                                  const CountNode& count_node,
                                                  const MayReplace& may_replace,
                                                  const CountPod& count_pod, Moment at) {
  std::vector<PodEvictions> possible;
  for (NodeIndex index = 0; index < snapshot.size(); ++index) {
    const NodeState& node = snapshot.node(index);
    if (!node.Schedulable() || !may_replace(node)) continue;
    std::vector<std::shared_ptr<const Pod>> victims = Propose(pod, count_node(node), count_pod);
    if (!victims.empty()) possible.push_back({node.detail->name, std::move(victims)});
  }
  if (possible.empty()) return std::nullopt;
  if (with_extender_ && pod.UsesGpus()) {
    std::optional<WallTime> reclaims_at;
    if (delay_.Lasts(pod.uid, at.now)) reclaims_at = at.wall;
    std::vector<std::pair<std::string, std::vector<std::string>>> proposed;
    for (const PodEvictions& evictions : possible) {
      std::vector<std::string>& uids = proposed.emplace_back().second;
      proposed.back().first = evictions.node;
      for (const auto& victim : evictions.victims) uids.push_back(victim->uid);
    }
    possible.clear();
    for (NodeVictims& kept : SelectVictimsByNode(snapshot, pod, proposed, reclaims_at))
      possible.push_back({std::move(kept.node), std::move(kept.victims.pods)});
  }
  const auto best =
      std::min_element(possible.begin(), possible.end(),
                       [](const auto& a, const auto& b) { return RankOf(a) < RankOf(b); });
  if (best == possible.end()) return std::nullopt;
  return std::move(*best);
}

}  // namespace synergy
