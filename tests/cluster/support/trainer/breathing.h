#pragma once

// Holds anonymous memory that grows and shrinks at random, as fast as the kernel supplies it.
//
// Threading: a thread of its own, which ends with the object.

#include <atomic>
#include <cstdint>
#include <thread>

namespace synergy::trainer {

class Breathing {
 public:
  // Holds between 0 and `most` bytes, and changes the amount several times per second. The same
  // `seed` gives the same amounts.
  Breathing(uint64_t most, uint64_t seed);

  // Returns the sum of all memory that was requested from the kernel.
  uint64_t touched_bytes() const { return touched_; }

 private:
  std::atomic<uint64_t> touched_ = 0;
  std::jthread thread_;
};

}  // namespace synergy::trainer
