#include "extender/candidates.h"

namespace synergy::extender {
namespace {

// A cluster of thousands of nodes does not fit the processor's caches, and a request names them in
// any order: what will be needed so many nodes later is asked for now.
constexpr size_t kAhead = 8;

}  // namespace

Candidates::Candidates(const ClusterSnapshot& snapshot,
                       const std::optional<ClusterState::Hold>& hold,
                       const json::ExtenderArgs& args, const json::ObjectReader& reader)
    : snapshot_(snapshot), args_(args), reader_(reader) {
  places_.reserve(args.size());
  for (size_t i = 0; i < args.size(); ++i) {
    if (i + kAhead < args.size()) snapshot.Prefetch(args.Name(i + kAhead));
    places_.push_back(snapshot.Find(args.Name(i)));
  }
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
  if (i + kAhead < places_.size()) {
    if (const std::optional<NodeIndex> ahead = places_[i + kAhead]) snapshot_.Prefetch(*ahead);
  }
  const std::optional<NodeIndex> index = places_[i];
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
