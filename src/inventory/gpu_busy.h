#pragma once

// Measures how long GPUs have been busy from their utilization, in the form that
// synergy-device-plugin reports to synergy-node-agent. If a training reports no iterations, the
// busy time of its GPUs is an estimate of its progress, because an iteration's work is constant
// (docs/progress.md).
//
// Threading: values; one owner of a meter.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.h"

namespace synergy {

// Accumulates the busy time of GPUs from periodic readings of their utilization.
class BusyMeter {
 public:
  struct Busy {
    double seconds = 0;  // since then
    WallTime since{};
  };

  // Takes in a reading: the part of the last moments in which each GPU was busy, 0 to 1, by UUID.
  // Restarts the count of a GPU that is missing or was not read for more than five seconds.
  void Add(const std::map<std::string, std::optional<double>>& utilizations, Moment at);
  // Returns none if nothing is known of the GPU.
  std::optional<Busy> Of(const std::string& uuid) const;

 private:
  std::map<std::string, Busy> gpus_;
  Instant last_{};
};

struct ContainerBusy {
  std::string pod_namespace;
  std::string pod;
  std::string container;
  // Busy seconds since that moment, as the mean over the container's GPUs.
  double seconds = 0;
  WallTime since{};

  bool operator==(const ContainerBusy&) const = default;
};

// The busy times of a node's containers at one moment.
struct NodeBusy {
  WallTime at{};
  std::vector<ContainerBusy> containers;

  bool operator==(const NodeBusy&) const = default;
};

}  // namespace synergy
