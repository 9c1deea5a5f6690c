#pragma once

// How long a container's GPUs and CPU have been idle, by repeated readings of what they did. Idle
// means: the GPUs computed for less than 2 % of the time, and the CPU use was under a quarter of a
// core, in every step between two readings. Memory in use on a GPU is not activity: an idle
// notebook holds some.
//
// Threading: one owner. Pure.

#include <optional>

#include "core/clock.h"
#include "inventory/gpu_busy.h"
#include "profile/pod_progress.h"

namespace synergy::nodeagent {

class IdleTime {
 public:
  // Records the newest readings, which may be those of the last call. Without one of them, or after
  // a gap, the container does not count as idle until there are new ones. `busy_at`: the moment of
  // `busy`.
  void Observe(const ContainerBusy* busy, WallTime busy_at, const std::optional<CpuUse>& cpu,
               Instant now);
  // Returns none if it is not known what the container does.
  const std::optional<IdleReading>& reading() const { return reading_; }

 private:
  struct Gpus {
    ContainerBusy busy;
    WallTime at{};
  };

  std::optional<Gpus> gpus_;
  std::optional<CpuUse> cpu_;
  Instant idle_since_{};
  std::optional<IdleReading> reading_;
};

}  // namespace synergy::nodeagent
