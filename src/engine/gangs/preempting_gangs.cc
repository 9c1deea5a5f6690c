#include "engine/gangs/preempting_gangs.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "allocation/surplus.h"
#include "cluster/annotations.h"
#include "cluster/labels.h"
#include "cluster/state/fit.h"

namespace synergy {
namespace {

// Returns whether the pod waits for something that no node and no eviction can provide.
// kube-scheduler counts nodes for each reason, as in "0/8 nodes are available: 3 Insufficient
// nvidia.com/gpu". A reason without a count concerns only the pod, such as a claim that is not
// found. An empty message proves nothing.
bool WaitsForNoNode(std::string_view message) {
  constexpr std::string_view kBefore = " nodes are available: ";
  const size_t begin = message.find(kBefore);
  if (begin == std::string_view::npos) return false;
  const std::string_view reasons = message.substr(begin + kBefore.size());
  return !reasons.empty() && (reasons.front() < '0' || reasons.front() > '9');
}

bool WaitsLongEnough(const Pod& pod, const GangPreemptionRules& rules, WallTime now) {
  const Waiting& waiting = *pod.waiting;
  return waiting.scheduler == rules.scheduler_name && waiting.unschedulable &&
         !waiting.never_preempts && !WaitsForNoNode(waiting.message) &&
         waiting.since + rules.patience <= now;
}

// Returns the lowest priority of any pod that may be evicted.
int32_t LowestPriority(const ClusterSnapshot& snapshot) {
  int32_t lowest = std::numeric_limits<int32_t>::max();
  for (NodeIndex node = 0; node < snapshot.size(); ++node) {
    if (!snapshot.node(node).exists) continue;
    for (const auto& pod : snapshot.node(node).detail->pods) {
      if (pod->priority < lowest && !pod->waiting && pod->UsesGpus() && MayBeEvicted(*pod))
        lowest = pod->priority;
    }
  }
  return lowest;
}

}  // namespace

bool IsWhole(const ClusterSnapshot& snapshot, const Gang& gang) {
  const GangSites* const sites = snapshot.GangOf(gang.name);
  const auto size = static_cast<size_t>(gang.size);
  if (sites != nullptr && (sites->members == size ||
                           (sites->succeeded > 0 && sites->members + sites->succeeded >= size)))
    return true;
  const auto placed = snapshot.MembersOnNodes(gang.name);
  return std::any_of(placed.begin(), placed.end(), [](const auto& pod) {
    return !pod->waiting && !pod->deleting && pod->UsesGpus();
  });
}

std::vector<WaitingGang> GangsToPreemptFor(const ClusterSnapshot& snapshot,
                                           const std::vector<std::shared_ptr<const Pod>>& waiting,
                                           const GangPreemptionRules& rules, WallTime now) {
  std::map<std::string_view, WaitingGang> gangs;
  std::set<std::string_view> not_yet;
  for (const auto& pod : waiting) {
    if (!pod->IsOfGang()) continue;
    const std::string_view name = pod->gang->name;
    if (!WaitsLongEnough(*pod, rules, now)) not_yet.insert(name);
    WaitingGang& gang = gangs[name];
    if (gang.members.empty()) gang.name = name;
    gang.priority = gang.members.empty() ? pod->priority : std::min(gang.priority, pod->priority);
    gang.since = std::max(gang.since, pod->waiting->since);
    gang.members.push_back(pod);
  }
  std::vector<WaitingGang> due;
  if (gangs.size() == not_yet.size()) return due;
  const int32_t lowest = LowestPriority(snapshot);
  for (auto& [name, gang] : gangs) {
    if (gang.priority <= lowest) continue;
    if (not_yet.contains(name) || !IsWhole(snapshot, *gang.members.front()->gang)) continue;
    std::sort(gang.members.begin(), gang.members.end(),
              [](const auto& a, const auto& b) { return a->name < b->name; });
    due.push_back(std::move(gang));
  }
  std::sort(due.begin(), due.end(), [](const WaitingGang& a, const WaitingGang& b) {
    return std::tuple(-int64_t{a.priority}, a.since, std::string_view(a.name)) <
           std::tuple(-int64_t{b.priority}, b.since, std::string_view(b.name));
  });
  return due;
}

bool MayBeEvicted(const Pod& pod) {
  // Synergy does not manage a pod without GPUs, which is evicted with its gang.
  const bool may_go = pod.UsesGpus() ? pod.fungible != nullptr
                                     : FindLabel(pod.labels, annotations::kFungible) != "false";
  return may_go && !FindLabel(pod.labels, annotations::kKueuePod) &&
         !FindLabel(pod.labels, annotations::kKueuePodSet);
}

std::optional<GangVictims> VictimsOf(const ClusterSnapshot& snapshot, const WaitingGang& gang,
                                     const ResourceVector& headroom, WallTime now) {
  const auto may_go = [&](size_t member, NodeIndex node) {
    return MayGoTo(*gang.members[member], snapshot.node(node));
  };
  ReserveRule reserve;
  reserve.headroom = headroom;
  return SelectGangVictims(snapshot, gang.members, reserve, may_go, MayBeEvicted, now);
}

bool FitBeside(const ClusterSnapshot& snapshot, const std::vector<PlannedPlace>& places,
               const std::vector<PlannedPlace>& taken, const std::set<std::string>& leaving,
               WallTime now) {
  int32_t priority = std::numeric_limits<int32_t>::max();
  std::set<std::string> elsewhere = leaving;
  for (const PlannedPlace& place : places) {
    priority = std::min(priority, place.pod->priority);
    elsewhere.insert(place.pod->uid);
  }
  for (const PlannedPlace& place : taken) elsewhere.insert(place.pod->uid);
  const auto soon = [&](const NodeState& node) {
    NodeState state = node;
    for (const auto& pod : node.detail->pods) {
      const bool yields = pod->waiting != nullptr && pod->priority < priority;
      if (pod->deleting || yields || elsewhere.contains(pod->uid)) state = WithoutPod(state, *pod);
    }
    state = WithoutSurplus(state, now);
    for (const PlannedPlace& place : taken) {
      if (place.node == node.detail->name) state = WithPod(state, place.pod);
    }
    return state;
  };
  std::map<std::string_view, NodeState> nodes;
  for (const PlannedPlace& place : places) {
    const auto index = snapshot.Find(place.node);
    if (!index || !snapshot.node(*index).exists) return false;
    auto node = nodes.find(place.node);
    if (node == nodes.end()) node = nodes.emplace(place.node, soon(snapshot.node(*index))).first;
    if (!CheckFit(*place.pod, node->second).none()) return false;
    node->second = WithPod(node->second, place.pod);
  }
  return true;
}

}  // namespace synergy
