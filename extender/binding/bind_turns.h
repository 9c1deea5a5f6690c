#pragma once

// Lets one bind of a pod run at a time: kube-scheduler gives a slow one up and asks again while the
// first is still under way.
//
// Threading: from any thread; turns end in any thread, before this does.

#include <memory>
#include <mutex>
#include <set>
#include <string>

namespace synergy::extender {

class BindTurns {
 public:
  // Lasts as long as what is returned; null while another lasts.
  std::shared_ptr<const void> Take(const std::string& uid) {
    const std::lock_guard lock(mutex_);
    if (!taken_.insert(uid).second) return nullptr;
    return {this, [uid](BindTurns* turns) {
              const std::lock_guard ending(turns->mutex_);
              turns->taken_.erase(uid);
            }};
  }

 private:
  std::mutex mutex_;
  std::set<std::string> taken_;  // pods' uids
};

}  // namespace synergy::extender
