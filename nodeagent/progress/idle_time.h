#pragma once

// Determines how long a container's GPUs and CPU have been idle, from repeated readings of their
// activity. A container is idle if, in every step between two readings, its GPUs computed for less
// than 2 % of the time and it used less than a quarter of a core. Memory in use on a GPU is not
// activity, because an idle notebook holds some. All times are monotonic, because the wall clock
// may jump.
//
// Threading: one owner. Pure.

#include <optional>

#include "core/clock.h"
#include "inventory/gpu_busy.h"
#include "profile/pod_progress.h"

namespace synergy::nodeagent {

class IdleTime {
 public:
  // Records the newest readings, which may be those of the last call. If one of them is missing, or
  // after a gap, the container does not count as idle until there are new readings. `busy_at`,
  // `cpu_at`: the times of the readings.
  void Observe(const ContainerBusy* busy, Instant busy_at, const std::optional<CpuUse>& cpu,
               Instant cpu_at, Instant now);
  // Returns nullopt if the container's activity is unknown.
  const std::optional<IdleReading>& reading() const { return reading_; }

 private:
  struct Gpus {
    ContainerBusy busy;
    Instant at{};
  };
  struct Cpu {
    Duration used{};
    Instant at{};
  };

  std::optional<Gpus> gpus_;
  std::optional<Cpu> cpu_;
  Instant idle_since_{};
  std::optional<IdleReading> reading_;
};

}  // namespace synergy::nodeagent
