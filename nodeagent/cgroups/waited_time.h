#pragma once

// Measures how long the threads of a cgroup v1 group have waited for a CPU. The kernel counts this
// time only per thread (/proc/TID/schedstat), so WaitedTimes sums the counts of the group's
// threads. When a thread ends, the last count read from it stays in the sum.
//
// The agent needs the host's PID namespace, because from another one it cannot see the processes of
// pods.
//
// Threading: any thread.

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "core/clock.h"

namespace synergy::nodeagent {

// The maximum number of threads in a group. Each takes one file read, so larger groups get no sum.
inline constexpr size_t kMostThreads = 512;

class WaitedTimes {
 public:
  explicit WaitedTimes(std::string proc_folder) : proc_folder_(std::move(proc_folder)) {}

  // Returns the sum for the group in `folder`, which never decreases; nullopt if no thread is
  // visible or there are too many.
  std::optional<Duration> Of(const std::string& folder);

 private:
  struct Group {
    Duration sum{};
    std::map<int64_t, Duration> threads;  // counts at the last call, by thread ID
  };

  std::optional<Duration> OfThread(int64_t thread) const;

  const std::string proc_folder_;
  std::mutex mutex_;
  std::map<std::string, Group> groups_;  // by folder
};

}  // namespace synergy::nodeagent
