#include "sim/cluster/simulated_pods.h"

namespace synergy {

void SimulatedPods::Create(const Pod& pod) {
  const auto [it, created] = pods_.emplace(pod.uid, pod);
  if (!created) return;
  SimulatedPod& made = it->second;
  ++made.resource_version;
  ++writes_;
  if (!made.waits()) Add(made.node, AmountsOf(made));
  Report(made.AsCounted());
}

void SimulatedPods::Report(const Pod& pod) {
  state_.UpsertPod(pod);
  if (other_state_ != nullptr) other_state_->UpsertPod(pod);
}

bool SimulatedPods::Write(const std::string& uid, const Change& change) {
  return Update(uid, change, false);
}

bool SimulatedPods::WriteStatus(const std::string& uid, const Change& change) {
  return Update(uid, change, true);
}

bool SimulatedPods::Update(const std::string& uid, const Change& change, bool of_status) {
  const auto it = pods_.find(uid);
  if (it == pods_.end()) return false;
  SimulatedPod& pod = it->second;
  const bool waited = pod.waits();
  const Amounts before = AmountsOf(pod);
  change(pod);
  ++pod.resource_version;
  ++writes_;
  const Amounts now = AmountsOf(pod);
  if (!waited) Subtract(pod.node, before);
  if (!pod.waits()) Add(pod.node, now);
  Report(pod.AsCounted());
  if (!of_status) watcher_.PodWritten(pod, *this);
  if (!waited && LargerOf(now.counted, before.counted) != now.counted) watcher_.RoomMade(pod);
  return true;
}

void SimulatedPods::Remove(const std::string& uid) {
  const auto it = pods_.find(uid);
  if (it == pods_.end()) return;
  const SimulatedPod pod = it->second;
  pods_.erase(it);
  ++writes_;
  if (!pod.waits()) Subtract(pod.node, AmountsOf(pod));
  state_.RemovePod(uid);
  if (other_state_ != nullptr) other_state_->RemovePod(uid);
  if (!pod.waits()) watcher_.RoomMade(pod);
}

const SimulatedPod* SimulatedPods::Find(const std::string& uid) const {
  const auto it = pods_.find(uid);
  return it == pods_.end() ? nullptr : &it->second;
}

ResourceVector SimulatedPods::CountedOn(const std::string& node) const {
  const auto it = on_nodes_.find(node);
  return it == on_nodes_.end() ? ResourceVector{} : it->second.counted;
}

ResourceVector SimulatedPods::AllocatedOn(const std::string& node) const {
  const auto it = on_nodes_.find(node);
  return it == on_nodes_.end() ? ResourceVector{} : it->second.allocated;
}

SimulatedPods::Amounts SimulatedPods::AmountsOf(const SimulatedPod& pod) {
  return {pod.CountedByKubeScheduler(), pod.AllocatedByKubelet()};
}

void SimulatedPods::Add(const std::string& node, const Amounts& amounts) {
  Amounts& sum = on_nodes_[node];
  sum.counted += amounts.counted;
  sum.allocated += amounts.allocated;
  counted_ += amounts.counted;
}

void SimulatedPods::Subtract(const std::string& node, const Amounts& amounts) {
  Amounts& sum = on_nodes_[node];
  sum.counted -= amounts.counted;
  sum.allocated -= amounts.allocated;
  counted_ -= amounts.counted;
}

}  // namespace synergy
