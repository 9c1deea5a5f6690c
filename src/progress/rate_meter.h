#pragma once

// Iterations per second from how far a training was and when.
//
// A stretch is the time between two training lines that follow each other. `Rate` is iterations by
// time over the stretches of the last minute, without those that were broken (`Break`: evaluation,
// or a count that began anew) and without stalls: stretches whose time per iteration is far above
// the usual one and that lost at least a second by it, such as a checkpoint that is written. What
// happens in every few stretches is usual: data loaders deliver in bursts.
//
// Lines with one time are one point: a container runtime stamps what it reads, and may read a
// hundred updates of a bar at once.
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
  // `done` iterations were done at `time`; never less than before. A time before the last one
  // breaks the stretch.
  void Add(WallTime time, int64_t done);
  // What lies between the last Add and the next one is not training alone. `time`: of the line
  // that says so, where it has one.
  void Break(std::optional<WallTime> time);

  // Absent before the first whole stretch.
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

  std::optional<Point> last_;        // where the open stretch begins
  std::optional<Point> present_;     // where it ends; lines with the same time may come yet
  bool broken_ = false;              // between the two
  bool broken_after_ = false;        // after present_
  Stretch growing_;                  // stretches too short to be kept one by one
  std::array<Stretch, kKept> kept_;  // a ring
  size_t count_ = 0;                 // ever kept
};

}  // namespace synergy
