#pragma once

// How long a pod is kept waiting for room that may come, before it is refused or evicts others.
//
// Threading: from any thread.

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "core/clock.h"

namespace synergy::extender {

// When /filter may wait a moment and look again before it refuses every node. kube-scheduler may
// have heard of a change a little before us (a pod that has ended, say, of which nothing told
// before), and does not ask again before the next one; but all of its pods wait while it waits for
// an answer.
struct SecondLookTimes {
  // From one to the next where room is known to be on its way, and where it is not.
  Duration rest = std::chrono::milliseconds(200);
  Duration long_rest = std::chrono::milliseconds(500);
};

class SecondLooks {
 public:
  explicit SecondLooks(SecondLookTimes times = {}) : times_(times) {}

  // Whether to look again at what is known as `version` of the cluster; never twice at the same.
  // `room_under_way` takes its time, so it is asked only where it matters.
  bool Allow(uint64_t version, Instant now, const std::function<bool()>& room_under_way);

 private:
  const SecondLookTimes times_;
  std::mutex mutex_;
  std::optional<uint64_t> looked_at_;
  Instant next_{};        // not before, whatever is on its way
  Instant next_blind_{};  // not before, where nothing is
};

// How long a pod is told to wait for the tuner instead of evicting others: the tuner may be down,
// and nobody may wait for it for good.
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
