#include "nodeagent/node_pods.h"

namespace synergy::nodeagent {

void NodePods::Replace(std::vector<wire::ResizeStatus> all) {
  std::map<std::string, PodPointer> pods;
  for (wire::ResizeStatus& pod : all) {
    std::string uid = pod.uid;
    pods.emplace(std::move(uid), std::make_shared<const wire::ResizeStatus>(std::move(pod)));
  }
  const std::lock_guard lock(mutex_);
  pods_ = std::move(pods);
}

void NodePods::Upsert(wire::ResizeStatus pod) {
  std::string uid = pod.uid;
  auto pointer = std::make_shared<const wire::ResizeStatus>(std::move(pod));
  const std::lock_guard lock(mutex_);
  pods_.insert_or_assign(std::move(uid), std::move(pointer));
}

void NodePods::Remove(const wire::ResizeStatus& pod) {
  const std::lock_guard lock(mutex_);
  pods_.erase(pod.uid);
}

std::vector<PodPointer> NodePods::All() const {
  const std::lock_guard lock(mutex_);
  std::vector<PodPointer> pods;
  pods.reserve(pods_.size());
  for (const auto& [uid, pod] : pods_) pods.push_back(pod);
  return pods;
}

const wire::ResizeStatus::Container* TrainingContainer(const wire::ResizeStatus& pod) {
  if (!pod.fungible || pod.terminal) return nullptr;
  for (const wire::ResizeStatus::Container& container : pod.containers) {
    if (container.name == pod.fungible->container && !container.id.empty()) return &container;
  }
  return nullptr;
}

}  // namespace synergy::nodeagent
