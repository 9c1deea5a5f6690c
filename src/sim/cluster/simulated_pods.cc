#include "sim/cluster/simulated_pods.h"

namespace synergy {

void SimulatedPods::Create(const Pod& pod) {
  const auto [it, created] = pods_.emplace(pod.uid, pod);
  if (!created) return;
  SimulatedPod& made = it->second;
  ++made.resource_version;
  ++writes_;
  if (!made.waits()) Count(made.node, made.CountedByKubeScheduler());
  state_.UpsertPod(made.AsCounted());
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
  const ResourceVector before = pod.CountedByKubeScheduler();
  change(pod);
  ++pod.resource_version;
  ++writes_;
  const ResourceVector now = pod.CountedByKubeScheduler();
  if (!waited) Count(pod.node, ResourceVector{} - before);
  if (!pod.waits()) Count(pod.node, now);
  state_.UpsertPod(pod.AsCounted());
  if (!of_status) watcher_.PodWritten(pod, *this);
  if (!waited && LargerOf(now, before) != now) watcher_.RoomMade(pod);
  return true;
}

void SimulatedPods::Remove(const std::string& uid) {
  const auto it = pods_.find(uid);
  if (it == pods_.end()) return;
  const SimulatedPod pod = it->second;
  pods_.erase(it);
  ++writes_;
  if (!pod.waits()) Count(pod.node, ResourceVector{} - pod.CountedByKubeScheduler());
  state_.RemovePod(uid);
  if (!pod.waits()) watcher_.RoomMade(pod);
}

const SimulatedPod* SimulatedPods::Find(const std::string& uid) const {
  const auto it = pods_.find(uid);
  return it == pods_.end() ? nullptr : &it->second;
}

ResourceVector SimulatedPods::CountedOn(const std::string& node) const {
  const auto it = counted_on_.find(node);
  return it == counted_on_.end() ? ResourceVector{} : it->second;
}

void SimulatedPods::Count(const std::string& node, const ResourceVector& amounts) {
  counted_on_[node] += amounts;
  counted_ += amounts;
}

}  // namespace synergy
