#pragma once

// Estimates a container's progress from repeated readings of its GPUs' busy time.
//
// Threading: one owner. Pure.

#include <deque>
#include <optional>
#include <string>

#include "core/clock.h"
#include "inventory/gpu_busy.h"
#include "profile/pod_progress.h"

namespace synergy::nodeagent {

// Readings older than this are ignored, unless they announce longer intervals.
inline constexpr Duration kLongestBusyAge = std::chrono::seconds(10);
// How many of its intervals a reading may be old.
inline constexpr int kLateIntervals = 3;

class BusyTime {
 public:
  // Records a reading made at `at`. Returns false if the reading is not new.
  bool Observe(const ContainerBusy& reading, Moment at);
  // Returns nullopt until a GPU has been busy. The rate covers the last minute, and is absent until
  // there are ten seconds of readings.
  std::optional<BusyEstimate> Estimate() const;

 private:
  struct Sample {
    Moment at{};
    double busy = 0;  // busy seconds since the first reading
  };

  std::optional<ContainerBusy> last_;
  std::deque<Sample> minute_;  // the last minute since the count's last restart, oldest first
  double busy_ = 0;
};

// Returns the container's reading; null if there is none.
const ContainerBusy* FindBusy(const NodeBusy& busy, const std::string& pod_namespace,
                              const std::string& pod, const std::string& container);

}  // namespace synergy::nodeagent
