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
  // Anything between nothing and `most` bytes, anew several times a second. The same `seed`, the
  // same amounts.
  Breathing(uint64_t most, uint64_t seed);

  // All that was ever asked of the kernel.
  uint64_t touched_bytes() const { return touched_; }

 private:
  std::atomic<uint64_t> touched_ = 0;
  std::jthread thread_;
};

}  // namespace synergy::trainer
