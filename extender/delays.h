#pragma once

// How long a pod waits for room that may become free before it is refused, or evicts other pods.
//
// This file is separate because these limits of waiting need only a clock and a version.
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

// When /filter may wait a moment and check again before it refuses every node. kube-scheduler may
// have received a change slightly earlier than the extender (such as the unannounced end of a pod),
// and does not retry before the next change. But meanwhile all its pods wait for the answer.
struct RetryTimes {
  // The time between two such checks if room is known to become free, and if it is not.
  Duration rest = std::chrono::milliseconds(200);
  Duration long_rest = std::chrono::milliseconds(500);
};

class RetryLimiter {
 public:
  explicit RetryLimiter(RetryTimes times = {}) : times_(times) {}

  // Returns whether to check again at `version` of the cluster; never twice at the same version.
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
