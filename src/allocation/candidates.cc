#include "allocation/candidates.h"

#include <algorithm>

namespace synergy {
namespace {

// The number of nodes to prefetch ahead. The data of thousands of nodes exceeds the processor's
// caches, and a request lists nodes in any order.
constexpr size_t kAhead = 8;
constexpr size_t kBits = 64;  // number of bits of Candidate::lacking

}  // namespace

std::optional<NodeIndex> CountedAt(const ClusterSnapshot& snapshot, std::optional<NodeIndex> place,
                                   const std::string& uid) {
  if (!place || *place >= snapshot.size()) return std::nullopt;
  const auto& pods = snapshot.node(*place).detail->pods;
  const bool counted =
      std::any_of(pods.begin(), pods.end(), [&uid](const auto& pod) { return pod->uid == uid; });
  return counted ? place : std::nullopt;
}

Candidates::Candidates(const ClusterSnapshot& snapshot, const Pod& pod,
                       std::optional<NodeIndex> counted_on, const AskedNodes& asked)
    : snapshot_(snapshot), pod_(pod), asked_(asked), counted_on_(counted_on) {
  const size_t size = asked.size();
  places_.reserve(size);
  for (size_t i = 0; i < size; ++i) {
    if (i + kAhead < size) snapshot.Prefetch(asked.Name(i + kAhead));
    places_.push_back(snapshot.Find(asked.Name(i)));
  }
  const auto& others = pod.requests.other.entries();
  by_columns_ = others.size() <= kBits;
  for (size_t i = 0; by_columns_ && i < others.size(); ++i) {
    const auto& [name, amount] = others[i];
    if (amount > 0) scalars_.push_back({snapshot.FreeOf(name), amount, uint64_t{1} << i});
  }
  if (counted_on_) without_pod_ = WithoutPod(snapshot.node(*counted_on_), pod.uid);
}

Candidates::Candidate Candidates::Judge(size_t i) {
  Candidate candidate = Get(i);
  // The columns hold the free amounts of the snapshot's nodes. They do not cover a node without the
  // pod's own share, nor a node that is known only from the request.
  if (by_columns_ && candidate.index && candidate.index != counted_on_) {
    candidate.lacking = Lacking(*candidate.index);
    candidate.failures = CheckFit(pod_, *candidate.state, *candidate.lacking != 0);
  } else {
    candidate.failures = CheckFit(pod_, *candidate.state);
  }
  return candidate;
}

uint64_t Candidates::Lacking(NodeIndex index) const {
  uint64_t lacking = 0;
  for (const Scalar& scalar : scalars_) {
    const int64_t free = scalar.column == nullptr ? 0 : scalar.column->Free(index);
    if (scalar.amount > free) lacking |= scalar.bit;
  }
  return lacking;
}

Candidates::Candidate Candidates::Get(size_t i) {
  if (i + kAhead < places_.size()) {
    if (const std::optional<NodeIndex> ahead = places_[i + kAhead]) snapshot_.Prefetch(*ahead);
  }
  const std::optional<NodeIndex> index = places_[i];
  if (index && snapshot_.node(*index).exists) {
    return {index == counted_on_ ? &without_pod_ : &snapshot_.node(*index), index, {}};
  }
  sent_state_ = NodeState{};
  // A node that is newer than the watch is judged as the request describes it. No known pod can be
  // on it.
  if (std::optional<Node> node = asked_.Sent(i)) sent_state_ = EmptyNode(*std::move(node));
  return {&sent_state_, std::nullopt, {}};
}

}  // namespace synergy
