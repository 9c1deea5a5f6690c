#include "extender/candidates.h"

namespace synergy::extender {

Candidates::Candidates(const ClusterSnapshot& snapshot,
                       const std::optional<ClusterState::Hold>& hold,
                       const json::ExtenderArgs& args, const json::ObjectReader& reader)
    : snapshot_(snapshot), args_(args), reader_(reader) {
  if (!hold || hold->node >= snapshot.size()) return;
  const NodeState& node = snapshot.node(hold->node);
  // The hold is read beside the snapshot, not from it: only what the snapshot counts can be thought
  // away.
  for (const auto& pod : node.detail->pods) {
    if (pod->uid != hold->pod->uid) continue;
    held_ = hold->node;
    held_state_ = WithoutPod(node, *pod);
    break;
  }
}

Candidates::Candidate Candidates::Get(size_t i) {
  const auto index = snapshot_.Find(args_.Name(i));
  if (index && snapshot_.node(*index).exists) {
    return {index == held_ ? &held_state_ : &snapshot_.node(*index), index};
  }
  sent_state_ = NodeState{};
  if (args_.whole_nodes) {
    // Newer than our watch: judge it by what was sent; no pod can be there that we should know of.
    if (const auto node = reader_.ReadNode(args_.node_objects[i])) sent_state_ = EmptyNode(*node);
  }
  return {&sent_state_, std::nullopt};
}

}  // namespace synergy::extender
