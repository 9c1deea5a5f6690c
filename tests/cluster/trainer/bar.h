#pragma once

// A progress bar on standard error, as tqdm draws it round a loop: ten times a second, each over
// the one before, without an end of line before the end.
//
// Threading: a thread of its own, which ends with the object.

#include <cstdint>
#include <functional>
#include <thread>

namespace synergy::trainer {

class Bar {
 public:
  // Of `total` iterations; 0 draws none. `done` is called from the bar's thread.
  Bar(uint64_t total, std::function<uint64_t()> done);

 private:
  std::jthread thread_;
};

}  // namespace synergy::trainer
