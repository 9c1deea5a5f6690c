#include "cluster/state/pod_list.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "cluster/state/cluster_state.h"

namespace synergy {
namespace {

// Returns the node to which the pod's own fields assign it; empty if none.
std::string NodeOf(const Pod& pod) {
  if (!pod.node.empty() || !pod.waiting) return pod.node;
  return pod.waiting->kept_node.empty() ? pod.waiting->nominated_node : pod.waiting->kept_node;
}

void MoveTo(std::vector<Pod>& to, std::vector<Pod>& from) {
  to.insert(to.end(), std::move_iterator(from.begin()), std::move_iterator(from.end()));
}

}  // namespace

PodList::PodList(ClusterState& state, std::vector<Pod> pods, size_t pods_at_a_time)
    : state_(state), pods_at_a_time_(pods_at_a_time) {
  // Sort the pods by node, so that equal lists give equal indices to the nodes.
  std::map<std::string, Pods> by_node;
  for (Pod& pod : pods) {
    observed_until_ = std::max(observed_until_, pod.resource_version);
    if (std::string node = NodeOf(pod); !node.empty()) {
      by_node[std::move(node)].push_back(std::move(pod));
      continue;
    }
    if (unplaced_.empty() || unplaced_.back().size() == pods_at_a_time_) unplaced_.emplace_back();
    unplaced_.back().push_back(std::move(pod));
  }
  by_node_.assign(std::move_iterator(by_node.begin()), std::move_iterator(by_node.end()));
  const auto lock = state_.Lock();
  state_.pods_.BeginList();
}

bool PodList::Step() {
  const auto lock = state_.Lock();
  if (next_node_ < by_node_.size()) {
    PutNodes();
  } else if (!moving_.empty()) {
    state_.PutListed(std::exchange(moving_, {}), 0);
  } else if (next_unplaced_ < unplaced_.size()) {
    state_.PutListed(std::move(unplaced_[next_unplaced_++]), 0);
  } else if (next_bucket_ == 0 || next_bucket_ < buckets_) {
    RemoveUnlisted();
  } else {
    state_.PutListed({}, observed_until_);
    return false;
  }
  return true;
}

void PodList::PutNodes() {
  Pods now;
  for (; next_node_ < by_node_.size() && now.size() < pods_at_a_time_; ++next_node_) {
    auto& [node, pods] = by_node_[next_node_];
    MoveTo(state_.pods_.AnyIsElsewhere(pods, node) ? moving_ : now, pods);
  }
  if (!now.empty()) state_.PutListed(std::move(now), 0);
}

void PodList::RemoveUnlisted() {
  if (buckets_ != state_.pods_.buckets()) {
    // The table has been rebuilt, so processed pods may be anywhere in it.
    buckets_ = state_.pods_.buckets();
    next_bucket_ = 0;
  }
  // A bucket has about one pod.
  const size_t end = next_bucket_ + pods_at_a_time_;
  for (const std::string& uid : state_.pods_.Unlisted(next_bucket_, end)) state_.Remove(uid);
  next_bucket_ = end;
}

}  // namespace synergy
