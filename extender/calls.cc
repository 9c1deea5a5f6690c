#include "extender/calls.h"

namespace synergy::extender {

std::string RequestIds::Begin(const std::string& pod_uid) {
  const std::lock_guard lock(mutex_);
  const auto [it, fresh] = by_uid_.insert_or_assign(pod_uid, ++last_);
  if (fresh) {
    order_.push_back(pod_uid);
    if (order_.size() > kLimit) {
      by_uid_.erase(order_.front());
      order_.pop_front();
    }
  }
  return std::to_string(it->second);
}

std::string RequestIds::Current(const std::string& pod_uid) const {
  const std::lock_guard lock(mutex_);
  const auto it = by_uid_.find(pod_uid);
  return it == by_uid_.end() ? "-" : std::to_string(it->second);
}

}  // namespace synergy::extender
