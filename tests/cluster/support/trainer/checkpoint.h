#pragma once

// The state from which a restarted training continues: a file to which lines are appended. The last
// whole line with `saved=` counts. The others record when each run began:
//
//   time=1764000000.123 began=0
//   time=1764000060.456 saved=1200
//   time=1764000120.789 began=1200
//
// It prints its actions on standard output in Megatron's wording.
//
// Threading: Save() from any thread. Failures: if the file cannot be written, the process ends.

#include <cstdint>
#include <mutex>
#include <string>

namespace synergy::trainer {

class Checkpoint {
 public:
  // With an empty path, nothing is stored, and every run begins at 0.
  explicit Checkpoint(std::string path);

  // Returns the iterations of earlier runs.
  uint64_t begun() const { return begun_; }
  // Returns when the value is on disk.
  void Save(uint64_t iterations);

 private:
  void Append(const char* what, uint64_t iterations);

  const std::string path_;
  uint64_t begun_ = 0;
  std::mutex mutex_;
};

}  // namespace synergy::trainer
