#pragma once

// Prints the progress of a training to standard error: a bar as tqdm draws it around a loop, ten
// times a second, each over the one before, without a line end until the last; or lines, as nanoGPT
// prints them, or as Megatron does if their number is known.
//
// Threading: a thread of its own, which ends with the object.

#include <cstdint>
#include <functional>
#include <thread>

namespace synergy::trainer {

class Bar {
 public:
  // Draws a bar of `total` iterations, with `width` characters that fill up; none for 0 iterations.
  // The bar's thread calls `done`.
  Bar(uint64_t total, uint64_t width, std::function<uint64_t()> done);

 private:
  std::jthread thread_;
};

class Lines {
 public:
  // Prints one line each `every` iterations; none if that is 0. `total`: 0 if it is unknown.
  // `half_loss`: iterations after which the loss is half of 1; 0: it stays 1. `done` as above.
  Lines(uint64_t every, uint64_t total, uint64_t half_loss, std::function<uint64_t()> done);

 private:
  std::jthread thread_;
};

}  // namespace synergy::trainer
