#pragma once

// How long GPUs have been busy, counted from their utilization, and what synergy-device-plugin
// tells synergy-node-agent of it: where a training says nothing of its iterations, the busy time of
// its GPUs is an estimate of its progress, because the work of an iteration is constant
// (docs/progress.md).
//
// Threading: values; one owner of a meter.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.h"

namespace synergy {

// Of GPUs whose utilization is looked at again and again.
class BusyMeter {
 public:
  struct Busy {
    double seconds = 0;  // since then
    WallTime since{};
  };

  // One look: the part of the last moments in which a GPU was busy, 0 to 1, by UUID. A GPU of which
  // nothing is known, or at which nobody looked for more than five seconds, is counted anew.
  void Add(const std::map<std::string, std::optional<double>>& utilizations, Moment at);
  // None: nothing is known of the GPU.
  std::optional<Busy> Of(const std::string& uuid) const;

 private:
  std::map<std::string, Busy> gpus_;
  Instant last_{};
};

struct ContainerBusy {
  std::string pod_namespace;
  std::string pod;
  std::string container;
  // Seconds in which its GPUs were busy, the mean of all that it has, since that moment.
  double seconds = 0;
  WallTime since{};

  bool operator==(const ContainerBusy&) const = default;
};

// All that is known of a node's containers at one moment.
struct NodeBusy {
  WallTime at{};
  std::vector<ContainerBusy> containers;

  bool operator==(const NodeBusy&) const = default;
};

}  // namespace synergy
