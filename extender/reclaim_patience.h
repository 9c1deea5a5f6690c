#pragma once

// How long a pod is told to wait for the tuner instead of evicting others: the tuner may be down,
// and nobody may wait for it for good.
//
// Threading: from any thread.

#include <map>
#include <mutex>
#include <string>

#include "core/clock.h"

namespace synergy::extender {

class ReclaimPatience {
 public:
  explicit ReclaimPatience(Duration limit = std::chrono::seconds(30)) : limit_(limit) {}

  // Whether the pod, for which pre-emption is considered now, can wait a little longer.
  bool Lasts(const std::string& uid, Instant now);

 private:
  struct Asked {
    Instant first;
    Instant last;
  };

  const Duration limit_;
  std::mutex mutex_;
  std::map<std::string, Asked> asked_;
};

}  // namespace synergy::extender
