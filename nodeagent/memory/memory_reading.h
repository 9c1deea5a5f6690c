#pragma once

// Decides when to report a pod's memory use to the tuner (annotation synergy.io/memory-in-use), and
// which value. The value is the peak of the last minutes. It is reported within seconds when it
// rises, rarely when it falls, and periodically to show that the report is fresh. Pods without
// memory above their floor get no report, because the tuner cannot take any memory from them.
//
// Threading: pure; one owner.

#include <array>
#include <cstdint>
#include <optional>

#include "cluster/managed_container.h"
#include "core/clock.h"

namespace synergy::nodeagent {

class MemoryReporter {
 public:
  // `reported`: the pod's present annotation, whose value counts as a peak until it is too old.
  explicit MemoryReporter(const std::optional<MemoryReading>& reported) : reported_(reported) {}

  // Records a look at the pod. Returns the report to write now, if any.
  std::optional<MemoryReading> Next(const ManagedContainer& fungible, Bytes in_use, bool node_short,
                                    Moment now);

 private:
  Bytes Peak(Bytes in_use, Instant now);

  struct Peaked {
    Bytes in_use;
    Instant begin{};
  };

  std::optional<MemoryReading> reported_;
  std::array<Peaked, 10> peaks_{};  // one per minute
  size_t newest_ = 0;
};

}  // namespace synergy::nodeagent
