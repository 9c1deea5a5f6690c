#pragma once

// Prints a training's progress on standard error, in one of two ways. A bar, like tqdm's around a
// loop, is drawn ten times a second over the previous one; it ends its line only when the loop
// ends. Lines are like nanoGPT's or, if the number of iterations is known, like Megatron's.
//
// Threading: a thread of its own, which ends with the object.

#include <cstdint>
#include <functional>
#include <thread>

namespace synergy::trainer {

class Bar {
 public:
  // Draws a bar of `total` iterations with `width` characters that fill up; draws nothing for 0
  // iterations. Calls `done` from the bar's thread.
  Bar(uint64_t total, uint64_t width, std::function<uint64_t()> done);

 private:
  std::jthread thread_;
};

class Lines {
 public:
  // Prints a line after each `every` iterations, or no lines if `every` is 0. `total`: 0 if
  // unknown. `half_loss`: iterations after which the loss is half of 1; with 0 it stays 1. `done`:
  // as above.
  Lines(uint64_t every, uint64_t total, uint64_t half_loss, std::function<uint64_t()> done);

 private:
  std::jthread thread_;
};

}  // namespace synergy::trainer
