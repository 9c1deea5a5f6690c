#include "controller/preemption/scale_ups.h"

#include <algorithm>

#include "engine/reservations/autoscaling.h"

namespace synergy::controller {

void ScaleUps::Replace(std::vector<wire::EventAboutPod> all) {
  const std::lock_guard lock(mutex_);
  by_namespace_.clear();
  for (const wire::EventAboutPod& event : all) Add(event);
}

void ScaleUps::Upsert(wire::EventAboutPod event) {
  const std::lock_guard lock(mutex_);
  Add(event);
}

void ScaleUps::Remove(const wire::EventAboutPod& event) {
  const std::lock_guard lock(mutex_);
  const auto pods = by_namespace_.find(event.pod_namespace);
  if (pods == by_namespace_.end()) return;
  const auto reported = pods->second.find(event.pod_uid);
  // An older event about the pod may be removed while a newer one still counts.
  if (reported == pods->second.end() || reported->second > event.last) return;
  pods->second.erase(reported);
  if (pods->second.empty()) by_namespace_.erase(pods);
}

bool ScaleUps::IsNodeComingFor(const Pod& pod, WallTime now) const {
  const std::lock_guard lock(mutex_);
  const auto pods = by_namespace_.find(pod.pod_namespace);
  if (pods == by_namespace_.end()) return false;
  const auto reported = pods->second.find(pod.uid);
  return reported != pods->second.end() && IsNodeComing(reported->second, now);
}

void ScaleUps::Add(const wire::EventAboutPod& event) {
  if (!ReportsNewNode(event.reason, event.message)) return;
  TimeByPod& pods = by_namespace_[event.pod_namespace];
  const auto known = pods.find(event.pod_uid);
  if (known != pods.end()) {
    known->second = std::max(known->second, event.last);
  } else if (pods.size() < kMostOfNamespace) {
    pods.emplace(event.pod_uid, event.last);
  }
}

}  // namespace synergy::controller
