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

// Older readings are ignored, unless they announce longer intervals.
inline constexpr Duration kLongestBusyAge = std::chrono::seconds(10);
// How many intervals a reading may be late.
inline constexpr int kLateIntervals = 3;

class BusyTime {
 public:
  // Records a reading made at that moment. Returns false if the reading is not new.
  bool Observe(const ContainerBusy& reading, Moment at);
  // Returns nullopt until a GPU was seen busy. The rate covers the last minute, but at least ten
  // seconds.
  std::optional<BusyEstimate> Estimate() const;

 private:
  struct Sample {
    Moment at{};
    double busy = 0;  // busy seconds since the first reading
  };

  std::optional<ContainerBusy> last_;
  std::deque<Sample> minute_;  // readings of one count without a gap, ascending
  double busy_ = 0;
};

// Returns the container's reading; null if there is none.
const ContainerBusy* FindBusy(const NodeBusy& busy, const std::string& pod_namespace,
                              const std::string& pod, const std::string& container);

}  // namespace synergy::nodeagent
