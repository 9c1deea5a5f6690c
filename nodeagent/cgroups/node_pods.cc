#include "nodeagent/cgroups/node_pods.h"

namespace synergy::nodeagent {

void NodePods::Replace(std::vector<wire::ResizeStatus> all) {
  std::map<std::string, PodPointer> pods;
  for (wire::ResizeStatus& pod : all) {
    std::string uid = pod.uid;
    pods.emplace(std::move(uid), std::make_shared<const wire::ResizeStatus>(std::move(pod)));
  }
  const std::lock_guard lock(mutex_);
  pods_ = std::move(pods);
  if (first_probes_) return;
  first_probes_.emplace();
  for (const auto& [uid, pod] : pods_) {
    if (const CpuProbe* const probe = ProbeOf(*pod)) first_probes_->emplace(uid, *probe);
  }
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

std::optional<wire::ResizeStatus> NodePods::Last(const wire::ResizeStatus& pod) const {
  const std::lock_guard lock(mutex_);
  const auto known = pods_.find(pod.uid);
  if (known == pods_.end()) return std::nullopt;
  return *known->second;
}

std::vector<PodPointer> NodePods::All() const {
  const std::lock_guard lock(mutex_);
  std::vector<PodPointer> pods;
  pods.reserve(pods_.size());
  for (const auto& [uid, pod] : pods_) pods.push_back(pod);
  return pods;
}

std::optional<std::map<std::string, CpuProbe>> NodePods::FirstProbes() const {
  const std::lock_guard lock(mutex_);
  return first_probes_;
}

const CpuProbe* ProbeOf(const wire::ResizeStatus& pod) {
  return pod.fungible && pod.fungible->probe ? &*pod.fungible->probe : nullptr;
}

const wire::ResizeStatus::Container* TrainingContainer(const wire::ResizeStatus& pod) {
  if (!pod.fungible || pod.terminal) return nullptr;
  for (const wire::ResizeStatus::Container& container : pod.containers) {
    if (container.name == pod.fungible->container && !container.id.empty()) return &container;
  }
  return nullptr;
}

SharedStorage::SharedStorage(const std::vector<PodPointer>& pods) {
  for (const PodPointer& pod : pods) {
    for (const std::string& storage : pod->storage) ++readers_[storage];
  }
}

bool SharedStorage::IsReadBy(const wire::ResizeStatus& pod) const {
  return std::any_of(pod.storage.begin(), pod.storage.end(), [this](const std::string& storage) {
    const auto found = readers_.find(storage);
    return found != readers_.end() && found->second > 1;
  });
}

}  // namespace synergy::nodeagent
