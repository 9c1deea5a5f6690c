#pragma once

// How fast a training is, and what CPU it takes for it, from what was told of it again and again:
// the maths behind live profiling (docs/profiling.md).
//
// Between two samples lies an interval. Intervals too short to tell anything are joined with the
// next, so that a loader that delivers in bursts is as fast as it is over all. Those whose rate is
// far from the usual one are stalls (a checkpoint, an evaluation) or what follows them, and do not
// count, as long as most do. Of the rest the two halves have to agree.
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
  WallTime last{};  // when the newest of them was said to be done, by the node's clock
  std::optional<CpuUse> cpu;
  // Of the other pods that do the same iterations together with it: a gang's, in a fixed order.
  std::vector<CpuUse> others = {};
};

struct WindowRules {
  Duration least{};      // of all intervals that count
  Duration longest{};    // with no agreement by then there is none
  double agreement = 0;  // of the two halves, as a fraction
};

enum class WindowState : uint8_t {
  kOpen,       // too little is known as yet
  kSettled,    // the halves agree
  kUnsettled,  // they do not, and it has gone on for too long
};

struct WindowReading {
  WindowState state = WindowState::kOpen;
  // The rest only where it is settled.
  double rate = 0;               // iterations per second
  std::optional<double> cpu;     // cores that it had
  double throttled = 0;          // seconds a second, summed over CPUs
  std::optional<double> waited;  // seconds a second in which threads waited for a CPU
  double spread = 0;             // between the halves, as a fraction of the rate
  Duration length{};             // from the first sample to the last
  size_t from = 0;               // the first sample that it goes by
};

// `samples` in their order, each with more iterations and a later `last` than the one before. Goes
// by all of them or, where those do not agree, by the newer ones that do.
WindowReading ReadWindow(std::span<const ProgressSample> samples, const WindowRules& rules);

}  // namespace synergy
