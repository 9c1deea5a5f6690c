#pragma once

// Measures how long GPUs have been busy from their utilization: in synergy-device-plugin, which
// reports it to synergy-node-agent, and in the node agent, by the figures of an exporter. If a
// training reports no iterations, the busy time of its GPUs is an estimate of its progress, because
// an iteration's work is constant (docs/internals/progress.md).
//
// Threading: values; one owner of a meter.

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.h"
#include "inventory/gpu_xids.h"
#include "inventory/kubelet_device.h"

namespace synergy {

// Accumulates the busy time of GPUs from periodic readings of their utilization.
class BusyMeter {
 public:
  struct Busy {
    double seconds = 0;  // since then
    WallTime since{};
  };

  // A driver's figure covers the last second or less, so it does not represent a long time; an
  // exporter's stands for the time since its last refresh.
  static constexpr Duration kLongestStep = std::chrono::seconds(5);
  explicit BusyMeter(Duration longest_step = kLongestStep) : longest_step_(longest_step) {}

  // Records a reading: the part of the last moments in which each GPU was busy, 0 to 1, by UUID.
  // Restarts the count of a GPU that is missing or was not read for more than the longest step.
  void Add(const std::map<std::string, std::optional<double>>& utilizations, Moment at);
  // Returns none if nothing is known of the GPU.
  std::optional<Busy> Of(const std::string& uuid) const;

 private:
  const Duration longest_step_;
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

// The busy times of a node's containers at one moment, and the Xids of their GPUs before it.
struct NodeBusy {
  WallTime at{};
  std::vector<ContainerBusy> containers;
  // How long it may take until the next moment is known; zero: seconds.
  Duration interval{};
  std::vector<ContainerXid> xids;

  bool operator==(const NodeBusy&) const = default;
};

// A GPU of a container; no busy time if it is unknown.
struct OwnedBusy {
  const DeviceOwner* owner = nullptr;
  std::optional<BusyMeter::Busy> busy;
};
// Returns the means of all containers, in the order of their names. A container is left out if the
// busy time of one of its GPUs is unknown, for instance because it is a part of a GPU (MIG).
std::vector<ContainerBusy> MeansOfContainers(const std::vector<OwnedBusy>& gpus);

}  // namespace synergy
