#include "cluster/state/node_ledger.h"

#include <algorithm>
#include <utility>

#include "core/check.h"

namespace synergy {

void NodeLedger::Replace(std::vector<Node> nodes) {
  std::vector<std::string> listed;
  listed.reserve(nodes.size());
  for (const Node& node : nodes) listed.push_back(node.name);
  std::sort(listed.begin(), listed.end());
  for (NodeIndex place = 0; place < nodes_.size(); ++place) {
    const NodeState& state = nodes_[place];
    if (!state.exists) continue;
    if (!std::binary_search(listed.begin(), listed.end(), state.detail->name)) Remove(place);
  }
  for (Node& node : nodes) Put(std::move(node));
}

void NodeLedger::Put(Node node) {
  const NodeIndex place = PlaceOf(node.name);
  NodeState& state = Touch(place);
  state = WithNode(state, std::move(node));
  UpdateScalars(place);
  largest_.reset();
  version_.Advance();
}

void NodeLedger::Remove(std::string_view name) {
  const auto place = Find(name);
  if (place && nodes_[*place].exists) Remove(*place);
}

void NodeLedger::Remove(NodeIndex place) {
  NodeState& state = Touch(place);
  state = WithNode(state, Node{.name = state.detail->name});
  state.exists = false;
  DropMisalignments(place);
  UpdateScalars(place);
  largest_.reset();
  ReleaseIfEmpty(place);
  version_.Advance();
}

NodeIndex NodeLedger::Count(const std::shared_ptr<const Pod>& pod) {
  const NodeIndex place = PlaceOf(pod->node);
  NodeState& state = Touch(place);
  state = WithPod(state, pod);
  if (!pod->requests.other.empty()) UpdateScalars(place);
  return place;
}

void NodeLedger::Uncount(const Pod& pod, NodeIndex place) {
  NodeState& state = Touch(place);
  state = WithoutPod(state, pod);
  SYNERGY_CHECK(state.pods >= 0, "no node has less than no pods");
  if (!pod.requests.other.empty()) UpdateScalars(place);
  ReleaseIfEmpty(place);
}

NodeIndex NodeLedger::Nominate(const std::shared_ptr<const Pod>& pod) {
  const NodeIndex place = PlaceOf(pod->waiting->nominated_node);
  NodeState& state = Touch(place);
  auto detail = std::make_shared<NodeDetail>(*state.detail);
  detail->nominated.push_back(pod);
  state.detail = std::move(detail);
  return place;
}

void NodeLedger::Denominate(const Pod& pod, NodeIndex place) {
  NodeState& state = Touch(place);
  auto detail = std::make_shared<NodeDetail>(*state.detail);
  std::erase_if(detail->nominated, [&pod](const auto& other) { return other->uid == pod.uid; });
  state.detail = std::move(detail);
  ReleaseIfEmpty(place);
}

void NodeLedger::Misalign(const std::string& node, const Misalignment& misalignment) {
  const auto place = Find(node);
  if (!place || !nodes_[*place].exists) return;
  NodeState& state = Touch(*place);
  auto detail = std::make_shared<NodeDetail>(*state.detail);
  std::erase_if(detail->misaligned,
                [&](const Misalignment& other) { return other.gpus == misalignment.gpus; });
  detail->misaligned.push_back(misalignment);
  state.detail = std::move(detail);
  state.misaligns = true;
  misaligning_.insert(*place);
  version_.Advance();
}

void NodeLedger::DropMisalignments(WallTime now) {
  for (auto next = misaligning_.begin(); next != misaligning_.end();) {
    const NodeIndex place = *next++;
    const std::vector<Misalignment>& all = nodes_[place].detail->misaligned;
    const auto is_over = [now](const Misalignment& one) { return one.until <= now; };
    // Drop all of them when the last one expires, because they describe the same free GPUs.
    if (std::all_of(all.begin(), all.end(), is_over)) DropMisalignments(place);
  }
}

void NodeLedger::DropMisalignments(NodeIndex place) {
  if (misaligning_.erase(place) == 0) return;
  NodeState& state = Touch(place);
  auto detail = std::make_shared<NodeDetail>(*state.detail);
  detail->misaligned.clear();
  state.detail = std::move(detail);
  state.misaligns = false;
  version_.Advance();
}

std::shared_ptr<const NodeNames> NodeLedger::ShareNames() {
  names_shared_ = true;
  return names_;
}

const ResourceVector& NodeLedger::Largest() {
  if (!largest_) {
    ResourceVector largest = ResourceVector::Make(Gpus(1), [](auto) { return 1; });
    for (NodeIndex place = 0; place < nodes_.size(); ++place) {
      const ResourceVector& allocatable = nodes_[place].allocatable;
      ResourceVector::ForEach(
          [&](auto member) { largest.*member = std::max(largest.*member, allocatable.*member); });
    }
    largest_ = largest;
  }
  return *largest_;
}

NodeState& NodeLedger::Touch(NodeIndex place) {
  NodeState& state = nodes_.Mutable(place);
  state.changed = version_.next();
  return state;
}

void NodeLedger::UpdateScalars(NodeIndex place) {
  const NodeDetail& detail = *nodes_[place].detail;
  scalars_.Update(place, detail.allocatable, detail.requested);
}

NodeIndex NodeLedger::PlaceOf(const std::string& name) {
  if (const auto found = Find(name)) return *found;
  NodeIndex place = 0;
  if (free_places_.empty()) {
    place = static_cast<NodeIndex>(nodes_.size());
    nodes_.Append();
  } else {
    place = free_places_.back();
    free_places_.pop_back();
  }
  NodeState& state = nodes_.Mutable(place);
  state = EmptyNode(Node{.name = name});
  state.exists = false;
  MutableNames().Insert(name, place);
  return place;
}

void NodeLedger::ReleaseIfEmpty(NodeIndex place) {
  const NodeState& state = nodes_[place];
  if (state.exists || !state.detail->pods.empty() || !state.detail->nominated.empty()) return;
  MutableNames().Erase(state.detail->name);
  free_places_.push_back(place);
}

NodeNames& NodeLedger::MutableNames() {
  if (names_shared_) {
    names_ = std::make_shared<NodeNames>(*names_);
    names_shared_ = false;
  }
  return *names_;
}

}  // namespace synergy
