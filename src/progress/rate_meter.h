#pragma once

// Computes iterations per second from the position of a training over time.
//
// A stretch is the time between two consecutive training lines. `Rate` divides iterations by time
// over the stretches of the last minute. It omits broken stretches (`Break`: evaluation, or a count
// that restarted) and stalls. A stall is a stretch whose time per iteration is far above the usual
// one and costs at least a second, for example because a checkpoint is written. Delays that recur
// every few stretches are usual, because data loaders deliver in bursts.
//
// Lines with the same time are one point, because a container runtime stamps what it reads, and may
// read a hundred updates of a bar at once.
//
// Threading: one owner. Memory: 6 KiB.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/clock.h"

namespace synergy {

class RateMeter {
 public:
  // `done` is the number of iterations done at `time`; it never falls. A time before the previous
  // one breaks the stretch.
  void Add(WallTime time, int64_t done);
  // Marks the time between the last Add and the next as containing more than training. `time`: the
  // time of the line that shows this, if it has one.
  void Break(std::optional<WallTime> time);

  // Sets the total time since the meter began in which the training could not run, for example
  // because it was suspended. That time counts in no stretch. Call Pause before the first Add after
  // the pause. `total` may be up to a second ahead.
  void Pause(Duration total) { paused_ = total; }

  // Returns nullopt before the first whole stretch.
  std::optional<double> Rate() const;

 private:
  struct Point {
    WallTime time;
    int64_t done = 0;
  };
  struct Stretch {
    WallTime end;
    Duration time{};
    int64_t iterations = 0;
  };
  static constexpr size_t kKept = 256;

  std::optional<Stretch> Open() const;
  static Stretch Join(const Stretch& growing, const Stretch& next);
  void Keep();
  std::vector<Stretch> Stretches() const;

  WallTime Unpaused(WallTime time) const;

  Duration paused_{};
  std::optional<WallTime> latest_;   // of Add, with the pauses
  std::optional<Point> last_;        // the beginning of the open stretch
  std::optional<Point> present_;     // its end; lines with the same time may follow
  bool broken_ = false;              // between last_ and present_
  bool broken_after_ = false;        // after present_
  Stretch growing_;                  // stretches too short to be kept individually
  std::array<Stretch, kKept> kept_;  // a ring
  size_t count_ = 0;                 // total number kept
};

}  // namespace synergy
