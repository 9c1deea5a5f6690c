#pragma once

// Computes the speed and the CPU use of a training from repeated reports, for live profiling
// (docs/internals/profiling.md).
//
// Two consecutive samples form an interval. Intervals that are too short to be meaningful are
// joined with the next, so that a loader that delivers in bursts counts with its average speed.
// Intervals whose rate is far from the usual one are stalls (a checkpoint, an evaluation) or their
// aftermath, and do not count if most other intervals do. The two halves of the rest must agree.
//
// Threading: pure.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/clock.h"
#include "profile/pod_progress.h"

namespace synergy {

struct ProgressSample {
  double iterations = 0;
  WallTime last{};  // when the newest iteration was reported, by the node's clock
  std::optional<CpuUse> cpu;
  // CPU use of the other pods of its gang, which do the same iterations together with this one, in
  // a fixed order.
  std::vector<CpuUse> others = {};
};

struct WindowRules {
  Duration least{};      // total length of all intervals that count
  Duration longest{};    // the window is unsettled if the halves do not agree by then
  double agreement = 0;  // of the two halves, as a fraction
};

enum class WindowState : uint8_t {
  kOpen,       // too little is known so far
  kSettled,    // the halves agree
  kUnsettled,  // the halves disagree after the longest time
};

struct WindowReading {
  WindowState state = WindowState::kOpen;
  // The rest is valid only if settled.
  double rate = 0;               // iterations per second
  std::optional<double> cpu;     // cores that the pod used
  double throttled = 0;          // seconds per second, summed over CPUs
  std::optional<double> waited;  // seconds per second in which threads waited for a CPU
  double spread = 0;             // between the halves, as a fraction of the rate
  Duration length{};             // from the first sample to the last
  size_t from = 0;               // the first sample used
};

// Reads the window of `samples`, which are in order: each has more iterations and a later `last`
// than the previous one. Uses all of them or, if those do not agree, the newer ones that do.
WindowReading ReadWindow(std::span<const ProgressSample> samples, const WindowRules& rules);

}  // namespace synergy
