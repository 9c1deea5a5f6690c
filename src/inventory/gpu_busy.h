#pragma once

// Measures how long GPUs were busy, from their utilization: in synergy-device-plugin, which reports
// to synergy-node-agent, and in the node agent itself, from an exporter's figures. If a training
// reports no iterations, its GPUs' busy time estimates its progress, because an iteration's work is
// constant (docs/internals/progress.md).
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
    double seconds = 0;  // busy seconds since `since`
    WallTime since{};
  };

  // A driver's figure covers a second or less, so it does not represent a long time; an exporter's
  // covers the time since its last refresh.
  static constexpr Duration kLongestStep = std::chrono::seconds(5);
  explicit BusyMeter(Duration longest_step = kLongestStep) : longest_step_(longest_step) {}

  // Records a reading: the fraction (0 to 1) of the last moments in which each GPU was busy, by
  // UUID. Restarts the count for a GPU that is missing, or was not read for longer than the longest
  // step.
  void Add(const std::map<std::string, std::optional<double>>& utilizations, Moment at);
  // Returns nullopt if nothing is known of the GPU.
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
  // Busy seconds since that moment, averaged over the container's GPUs.
  double seconds = 0;
  WallTime since{};

  bool operator==(const ContainerBusy&) const = default;
};

// The busy times of a node's containers at one moment, and the Xids of their GPUs before it.
struct NodeBusy {
  WallTime at{};
  std::vector<ContainerBusy> containers;
  // Time between two reports; zero: a few seconds.
  Duration interval{};
  std::vector<ContainerXid> xids;

  bool operator==(const NodeBusy&) const = default;
};

// A GPU of a container; the busy time is absent if unknown.
struct OwnedBusy {
  const DeviceOwner* owner = nullptr;
  std::optional<BusyMeter::Busy> busy;
};
// Returns the means of all containers, ordered by name. Omits a container if the busy time of one
// of its GPUs is unknown, for example because it is a part of a GPU (MIG).
std::vector<ContainerBusy> MeansOfContainers(const std::vector<OwnedBusy>& gpus);

}  // namespace synergy
