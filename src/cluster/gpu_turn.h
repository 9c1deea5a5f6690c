#pragma once

// A pod's turns on GPUs that it shares with other pods, one after another (docs/internals/
// sharing.md): the parts of a cycle in which it runs. The node's agent suspends it for the rest of
// the cycle. The controller plans turns (engine/sharing/gpu_turns.h) and writes them on the pod;
// they are valid only while it renews them.
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
  std::vector<std::string> with;  // uids of the pods that have the same GPUs in the other parts
  // The uid of the pod that runs at the same times (packing); empty: none. If these two are the
  // only ones on the GPUs, `runs` is the whole cycle, and `with` is empty.
  std::string beside = {};

  // Returns whether the pod runs at that time, by the node's clock. REQUIRES: IsValid().
  bool RunsAt(WallTime now) const;
  // Returns when that next changes; nullopt if never. REQUIRES: IsValid().
  std::optional<WallTime> NextSwitch(WallTime now) const;
  // Returns whether the parts satisfy the rules above, and no suspension is longer than
  // kMostSuspended.
  bool IsValid() const;

  bool operator==(const GpuTurn&) const = default;
};

// The longest time for which a pod is suspended at a stretch (Gandiva's turns last a minute).
inline constexpr Duration kMostSuspended = std::chrono::seconds(110);
// Limits on what is read from a pod.
inline constexpr Duration kLongestTurnCycle = std::chrono::minutes(8);
inline constexpr size_t kMostTurnParts = 8;
inline constexpr size_t kMostTurnPartners = 64;

}  // namespace synergy
