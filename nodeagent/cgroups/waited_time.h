#pragma once

// How long the threads of control groups v1 have waited for a CPU, where the kernel has no count of
// a group's: the sum over its threads of what /proc says of each (schedstat). A thread that ends
// takes its count with it; what was seen of it stays in the sum.
//
// It needs the host's process ids: an agent that has its own sees none of the others.
//
// Threading: from any thread.

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "core/clock.h"

namespace synergy::nodeagent {

// Threads of a group beyond which there is no sum: each is a file to be read.
inline constexpr size_t kMostThreads = 512;

class WaitedTimes {
 public:
  explicit WaitedTimes(std::string proc_folder) : proc_folder_(std::move(proc_folder)) {}

  // Of the group in `folder`, never less than before; none where no thread of it can be seen, or
  // too many.
  std::optional<Duration> Of(const std::string& folder);

 private:
  struct Group {
    Duration sum{};
    std::map<int64_t, Duration> threads;  // by id: those that were there last
  };

  std::optional<Duration> OfThread(int64_t thread) const;

  const std::string proc_folder_;
  std::mutex mutex_;
  std::map<std::string, Group> groups_;  // by folder
};

}  // namespace synergy::nodeagent
