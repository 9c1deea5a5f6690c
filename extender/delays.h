#pragma once

// How long a pod waits for room that may become free before it is refused, or evicts other pods.
//
// This file is separate because these limits need only a clock and a version of the cluster.
//
// Threading: any thread.

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "allocation/preemption.h"
#include "core/clock.h"

namespace synergy::extender {

// Limits how often /filter waits a moment and checks again before it refuses every node.
// kube-scheduler may have received a change, such as the end of a pod, slightly before the
// extender. It retries a refused pod only after the next change, so a second check avoids a long
// wait. But during that check, kube-scheduler places no other pods.
struct RetryTimes {
  // The least time between two such checks: `rest` if room is becoming free, else `long_rest`.
  Duration rest = std::chrono::milliseconds(200);
  Duration long_rest = std::chrono::milliseconds(500);
};

class RetryLimiter {
 public:
  explicit RetryLimiter(RetryTimes times = {}) : times_(times) {}

  // Returns whether to check again at `version` of the cluster; true at most once per version.
  // `room_under_way` is slow, so it is called only if its result matters.
  bool Allow(uint64_t version, Instant now, const std::function<bool()>& room_under_way);

 private:
  const RetryTimes times_;
  std::mutex mutex_;
  std::optional<uint64_t> looked_at_;
  Instant next_{};        // earliest next check if room is becoming free
  Instant next_blind_{};  // earliest next check if no room is becoming free
};

// A BoundedWait for concurrent calls.
class SharedWait {
 public:
  explicit SharedWait(BoundedWait wait) : wait_(std::move(wait)) {}

  bool Lasts(const std::string& uid, Instant now, uint64_t version = 0) {
    const std::lock_guard lock(mutex_);
    return wait_.Lasts(uid, now, version);
  }

 private:
  std::mutex mutex_;
  BoundedWait wait_;
};

}  // namespace synergy::extender
