#include "engine/gangs/gang_refusals.h"

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>

namespace synergy {
namespace {

// Returns a hash of the node's properties that may change kube-scheduler's decision, apart from the
// gang's own pods; 0 if the node does not exist.
size_t Fingerprint(const ClusterSnapshot& snapshot, const std::string& name, const Gang& gang) {
  const auto place = snapshot.Find(name);
  if (!place || !snapshot.node(*place).exists) return 0;
  const NodeState& node = snapshot.node(*place);
  std::string text = fmt::format("{} {}", node.unschedulable, node.allocatable.gpus.count());
  for (const auto& [key, value] : node.detail->labels) text += '\n' + key + '=' + value;
  for (const Taint& taint : node.detail->taints)
    text += '\n' + taint.key + '=' + taint.value + ':' + taint.effect;
  std::set<std::string_view> others;
  for (const auto& pod : node.detail->pods) {
    if (pod->gang == nullptr || pod->gang->name != gang.name) others.insert(pod->uid);
  }
  for (const std::string_view uid : others) (text += '\n') += uid;
  return std::hash<std::string>()(text);
}

size_t CountAlike(const Pod& pod, const std::string& node,
                  const std::vector<CountedMember>& members) {
  return static_cast<size_t>(
      std::count_if(members.begin(), members.end(), [&](const CountedMember& member) {
        return member.node == node && member.pod->uid != pod.uid && IsAlike(*member.pod, pod);
      }));
}

}  // namespace

bool GangRefusals::AnyBounds() const {
  return std::any_of(refusals_.begin(), refusals_.end(),
                     [](const Refusal& refusal) { return refusal.alike > 0; });
}

bool GangRefusals::AnyDoubts() const {
  return std::any_of(refusals_.begin(), refusals_.end(),
                     [](const Refusal& refusal) { return refusal.in_doubt; });
}

void GangRefusals::Note(std::shared_ptr<const Pod> pod, const std::string& node,
                        const std::vector<CountedMember>& fellows,
                        const ClusterSnapshot& snapshot) {
  std::erase_if(refusals_, [&](const Refusal& known) {
    return known.pod->uid == pod->uid && known.node == node;
  });
  Refusal refusal{.pod = pod,
                  .node = node,
                  .node_then = Fingerprint(snapshot, node, *pod->gang),
                  .fellows = {},
                  .alike = CountAlike(*pod, node, fellows)};
  for (const bool only_there : {true, false}) {
    for (const CountedMember& fellow : fellows) {
      if (!only_there || fellow.node == node) refusal.fellows[fellow.pod->uid] = fellow.node;
    }
    if (!refusal.fellows.empty()) break;
  }
  refusals_.push_back(std::move(refusal));
}

void GangRefusals::Unlearn(const Pod& pod, const std::set<std::string_view>& allowed,
                           const std::vector<CountedMember>& fellows) {
  for (Refusal& refusal : refusals_) {
    if (!allowed.contains(refusal.node)) continue;
    if (refusal.pod->uid == pod.uid) refusal.forbids = false;
    if (IsAlike(*refusal.pod, pod) && CountAlike(pod, refusal.node, fellows) >= refusal.alike)
      refusal.alike = 0;
  }
  std::erase_if(refusals_,
                [](const Refusal& refusal) { return !refusal.forbids && refusal.alike == 0; });
}

void GangRefusals::Review(const std::vector<CountedMember>& members,
                          const ClusterSnapshot& snapshot) {
  std::erase_if(refusals_, [&](const Refusal& refusal) {
    return Fingerprint(snapshot, refusal.node, *refusal.pod->gang) != refusal.node_then;
  });
  for (Refusal& refusal : refusals_) {
    refusal.in_doubt = !refusal.fellows.empty() &&
                       std::none_of(members.begin(), members.end(), [&](const auto& member) {
                         const auto then = refusal.fellows.find(member.pod->uid);
                         return then != refusal.fellows.end() && then->second == member.node;
                       });
  }
}

bool GangRefusals::Forbid(const std::string& uid, const std::string& node, bool in_doubt) const {
  return std::any_of(refusals_.begin(), refusals_.end(), [&](const Refusal& refusal) {
    return refusal.forbids && (in_doubt || !refusal.in_doubt) && refusal.pod->uid == uid &&
           refusal.node == node;
  });
}

std::vector<ShapeBound> GangRefusals::Bounds(const ClusterSnapshot& snapshot) const {
  std::vector<ShapeBound> bounds;
  for (const Refusal& refusal : refusals_) {
    const auto node = snapshot.Find(refusal.node);
    if (refusal.alike > 0 && node) bounds.push_back({refusal.pod, *node, refusal.alike});
  }
  return bounds;
}

}  // namespace synergy
