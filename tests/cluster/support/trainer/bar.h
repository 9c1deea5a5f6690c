#pragma once

// Output of a training on standard error: a bar, as tqdm draws it round a loop, ten times a second,
// each over the one before, without an end of line before the end; or lines like those of nanoGPT
// or, if the number of iterations is known, of Megatron.
//
// Threading: a thread of its own, which ends with the object.

#include <cstdint>
#include <functional>
#include <thread>

namespace synergy::trainer {

class Bar {
 public:
  // Draws a bar of `total` iterations with `width` characters that fill up; nothing for 0
  // iterations. `done` is called from the bar's thread.
  Bar(uint64_t total, uint64_t width, std::function<uint64_t()> done);

 private:
  std::jthread thread_;
};

class Lines {
 public:
  // Prints a line each `every` iterations, and none in between; 0 prints none. `total`: 0 if
  // unknown. `half_loss`: iterations after which the loss is half of 1; 0: it stays 1. `done` as
  // above.
  Lines(uint64_t every, uint64_t total, uint64_t half_loss, std::function<uint64_t()> done);

 private:
  std::jthread thread_;
};

}  // namespace synergy::trainer
