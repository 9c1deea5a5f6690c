#pragma once

// A pod's turns on GPUs that it shares with other pods (docs/internals/sharing.md). Turns are the
// parts of a repeated cycle in which the pod runs. The node agent suspends the pod for the rest of
// the cycle. The controller plans turns (engine/sharing/gpu_turns.h) and writes them on the pod;
// the turns are valid only while the controller renews them.
//
//   epoch        epoch + cycle
//   |---- runs ----|  suspended  |---- runs ----|  suspended  |  ...
//
// Threading: values.

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.h"

namespace synergy {

struct GpuTurn {
  // The beginning and the end of a part, as offsets in the cycle.
  struct Part {
    Duration begin{};
    Duration end{};

    bool operator==(const Part&) const = default;
  };

  WallTime epoch{};
  Duration cycle{};
  std::vector<Part> runs;         // ascending; each ends before the next begins
  std::vector<std::string> with;  // uids of the pods that use the GPUs in the rest of the cycle
  // The uid of the pod that runs at the same times (packing); empty: none. If no third pod uses the
  // GPUs, `runs` is the whole cycle, and `with` is empty.
  std::string beside = {};

  // Returns whether the pod runs at that time, by the node's clock. REQUIRES: IsValid().
  bool RunsAt(WallTime now) const;
  // Returns when the pod is next suspended or resumed; nullopt if never. REQUIRES: IsValid().
  std::optional<WallTime> NextSwitch(WallTime now) const;
  // Returns whether the parts satisfy the rules above, and no suspension is longer than
  // kMostSuspended.
  bool IsValid() const;

  bool operator==(const GpuTurn&) const = default;
};

// The longest single suspension of a pod (Gandiva's turns last a minute).
inline constexpr Duration kMostSuspended = std::chrono::seconds(110);
// Limits on what is read from a pod.
inline constexpr Duration kLongestTurnCycle = std::chrono::minutes(8);
inline constexpr size_t kMostTurnParts = 8;
inline constexpr size_t kMostTurnPartners = 64;

}  // namespace synergy
