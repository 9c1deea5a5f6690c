#pragma once

// The barrier at which the workers of a synchronous training wait for each other in every
// iteration, as in an all-reduce. It is a file that all workers map, with a count of iterations for
// each worker.
//
// A waiting worker uses no CPU. A restarted worker counts from 0, and the others wait until it has
// caught up.
//
// Threading: Meet() by one thread. Failures: if the file cannot be mapped, the process ends.

#include <atomic>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string>

namespace synergy::trainer {

class Meeting {
 public:
  // With an empty path, this worker trains alone. REQUIRES: `rank` is less than `ranks`.
  Meeting(const std::string& path, int rank, int ranks);
  ~Meeting();
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;

  // Returns when all workers have called it as often as this worker.
  void Meet(const std::stop_token& stop);

 private:
  // Workers on the same machine share the file's pages, even from different containers.
  using Count = std::atomic<uint32_t>;
  static_assert(Count::is_always_lock_free && sizeof(Count) == sizeof(uint32_t));

  std::span<Count> counts_;
  size_t own_ = 0;
};

}  // namespace synergy::trainer
