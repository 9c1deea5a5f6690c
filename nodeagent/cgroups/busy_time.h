#pragma once

// From the busy time of a container's GPUs, as it is told again and again, to an estimate of its
// progress.
//
// Threading: one owner. Pure.

#include <deque>
#include <optional>
#include <string>

#include "core/clock.h"
#include "inventory/gpu_busy.h"
#include "profile/pod_progress.h"

namespace synergy::nodeagent {

// Of a file that is older nothing is told.
inline constexpr Duration kLongestBusyAge = std::chrono::seconds(10);

class BusyTime {
 public:
  // What is told of the container at that moment. False: it is not new.
  bool Hear(const ContainerBusy& told, WallTime at);
  // None until a GPU was seen busy. The rate is over the last minute, of ten seconds at least.
  std::optional<BusyEstimate> Estimate() const;

 private:
  struct Told {
    WallTime at{};
    double busy = 0;  // since it was heard of first
  };

  std::optional<ContainerBusy> last_;
  std::deque<Told> minute_;  // of one count without a gap, ascending
  double busy_ = 0;
};

// What is told of the container; null: nothing.
const ContainerBusy* FindBusy(const NodeBusy& busy, const std::string& pod_namespace,
                              const std::string& pod, const std::string& container);

}  // namespace synergy::nodeagent
