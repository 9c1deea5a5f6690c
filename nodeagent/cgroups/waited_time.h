#pragma once

// Measures how long the threads of a cgroup v1 group have waited for a CPU. The kernel keeps no
// such count for the group, so this adds up those of its threads (/proc/TID/schedstat). A thread's
// count disappears when the thread ends; what was seen of it stays in the sum.
//
// This requires the host's PID namespace, because in its own namespace the agent does not see other
// processes.
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

// The maximum number of threads in a group, because each takes one file read; with more there is no
// sum.
inline constexpr size_t kMostThreads = 512;

class WaitedTimes {
 public:
  explicit WaitedTimes(std::string proc_folder) : proc_folder_(std::move(proc_folder)) {}

  // Returns the sum for the group in `folder`, which never falls; nullopt if no thread is visible
  // or there are too many.
  std::optional<Duration> Of(const std::string& folder);

 private:
  struct Group {
    Duration sum{};
    std::map<int64_t, Duration> threads;  // by id, at the last look
  };

  std::optional<Duration> OfThread(int64_t thread) const;

  const std::string proc_folder_;
  std::mutex mutex_;
  std::map<std::string, Group> groups_;  // by folder
};

}  // namespace synergy::nodeagent
