#pragma once

// Anonymous memory that grows and shrinks at random, as fast as the kernel gives it.
//
// Threading: a thread of its own, which ends with the object.

#include <atomic>
#include <cstdint>
#include <thread>

namespace synergy::trainer {

class Breathing {
 public:
  // Holds between nothing and `most` bytes, changed several times per second. The same `seed` gives
  // the same amounts.
  Breathing(uint64_t most, uint64_t seed);

  // Returns the total that was ever requested from the kernel.
  uint64_t touched_bytes() const { return touched_; }

 private:
  std::atomic<uint64_t> touched_ = 0;
  std::jthread thread_;
};

}  // namespace synergy::trainer
