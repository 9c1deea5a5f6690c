#include "extender/nodes/ended_pods.h"

#include <chrono>
#include <utility>

#include "kube/deadline.h"

namespace synergy::extender {
namespace {

constexpr Duration kLongestReading = std::chrono::seconds(2);

}  // namespace

void EndedPods::Remove(const Pod& pod) {
  store_.Remove(pod);
  if (!pod.UsesGpus() || pod.node.empty()) return;
  const std::lock_guard lock(mutex_);
  std::erase_if(unread_, [&pod](const Unread& each) { return each.node == pod.node; });
  if (reading_ == pod.node) reading_.clear();
  if (pod.deleting) return;
  if (unread_.size() == kMostUnread) unread_.pop_front();
  unread_.push_back({kube::IdentityOf(pod), pod.node});
}

std::optional<EndedPods::Unread> EndedPods::TakeNext() {
  const std::lock_guard lock(mutex_);
  if (unread_.empty()) return std::nullopt;
  Unread next = std::move(unread_.front());
  unread_.pop_front();
  reading_ = next.node;
  return next;
}

void EndedPods::Look() {
  std::optional<Unread> next = TakeNext();
  if (!next) return;
  const kube::Deadline deadline(clock_, kLongestReading);
  const std::stop_token stop = deadline.token();
  for (; next; next = stop.stop_requested() ? std::nullopt : TakeNext()) {
    const auto& [pod, node] = *next;
    const Result<Pod> found = pods_.Get(pod.pod_namespace, pod.name, stop);
    const std::lock_guard lock(mutex_);
    if (found && found->uid == pod.uid && reading_ == node) state_.RefreshPod(*found);
  }
}

}  // namespace synergy::extender
