#pragma once

// Where a training goes on from when it is started again: a file to which lines are appended, of
// which the last whole one that says `saved=` counts. The others tell when each run began:
//
//   time=1764000000.123 began=0
//   time=1764000060.456 saved=1200
//   time=1764000120.789 began=1200
//
// What it does is told on standard output in Megatron's words.
//
// Threading: Save() from any thread. Failures: a file that cannot be written ends the process.

#include <cstdint>
#include <mutex>
#include <string>

namespace synergy::trainer {

class Checkpoint {
 public:
  // An empty path: nothing is kept, and every run begins at 0.
  explicit Checkpoint(std::string path);

  // Iterations that earlier runs have done.
  uint64_t begun() const { return begun_; }
  // On the disk when it returns.
  void Save(uint64_t iterations);

 private:
  void Append(const char* what, uint64_t iterations);

  const std::string path_;
  uint64_t begun_ = 0;
  std::mutex mutex_;
};

}  // namespace synergy::trainer
