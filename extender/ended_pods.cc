#include "extender/ended_pods.h"

#include <chrono>
#include <utility>

#include "extender/calls.h"

namespace synergy::extender {
namespace {

constexpr Duration kLongestReading = std::chrono::seconds(2);

}  // namespace

void EndedPods::Remove(const Pod& pod) {
  store_.Remove(pod);
  if (!pod.UsesGpus() || pod.node.empty() || pod.deleting) return;
  const std::lock_guard lock(mutex_);
  if (unread_.size() == kMostUnread) unread_.pop_front();
  unread_.push_back(kube::IdentityOf(pod));
}

std::optional<kube::PodIdentity> EndedPods::TakeNext() {
  const std::lock_guard lock(mutex_);
  if (unread_.empty()) return std::nullopt;
  kube::PodIdentity next = std::move(unread_.front());
  unread_.pop_front();
  return next;
}

void EndedPods::Look() {
  std::optional<kube::PodIdentity> next = TakeNext();
  if (!next) return;
  const Deadline deadline(clock_, kLongestReading);
  const std::stop_token stop = deadline.token();
  for (; next; next = stop.stop_requested() ? std::nullopt : TakeNext()) {
    const Result<Pod> found = pods_.Get(next->pod_namespace, next->name, stop);
    if (found && found->uid == next->uid) state_.RefreshPod(*found);
  }
}

}  // namespace synergy::extender
