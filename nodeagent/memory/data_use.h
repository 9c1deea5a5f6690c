#pragma once

// What a training does with memory and with what it reads, as the profiler takes it
// (profile/measured/memory_study.h): the memory of its container's control group, what the read
// calls of its processes returned, and what of that came from storage.
//
// The kernel counts reads for each process (/proc/PID/io: rchar, read_bytes), and for no group. A
// process that ends leaves its counts to the one that waits for it, so the living ones have them
// all. It takes the host's process ids and the capabilities SYS_PTRACE and DAC_READ_SEARCH, else
// nothing is told (docs/node-agent.md).
//
// Threading: from any thread.

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "nodeagent/cgroups/cgroup_folders.h"
#include "nodeagent/memory/memory_groups.h"
#include "profile/pod_progress.h"
#include "wire/objects/resize_status.h"

namespace synergy::nodeagent {

// Processes of a group beyond which nothing is told of their reads: each is a file to be read.
inline constexpr size_t kMostProcesses = 512;

struct ReadTotals {
  double read = 0;     // bytes that read calls returned, of files and of all else
  double fetched = 0;  // bytes that came from storage
};
// The text of /proc/PID/io; none: it is odd.
std::optional<ReadTotals> ParseProcessReads(std::string_view io);

// What the processes of control groups have read.
class GroupReads {
 public:
  explicit GroupReads(std::string proc_folder) : proc_folder_(std::move(proc_folder)) {}

  // Of the group in `folder`, never less than before; none where its processes cannot be seen or
  // may not be read, or where they are too many.
  std::optional<ReadTotals> Of(const std::string& folder);

 private:
  struct Group {
    ReadTotals told;
    ReadTotals lost;  // of processes that nobody has waited for
    int behind = 0;   // looks in a row that came to less than was told
  };

  std::optional<ReadTotals> Sum(const std::string& folder) const;

  const std::string proc_folder_;
  std::mutex mutex_;
  std::map<std::string, Group> groups_;  // by folder
};

class DataUse {
 public:
  virtual ~DataUse() = default;

  // By now, without `at` and `shared`. None: something of it cannot be seen.
  virtual std::optional<synergy::MemoryUse> Read(
      const wire::ResizeStatus& pod, const wire::ResizeStatus::Container& container) = 0;
};

// By the kernel. `hierarchy`: where the memory controller is mounted.
class KernelDataUse final : public DataUse {
 public:
  KernelDataUse(MemoryGroups& groups, std::string hierarchy, std::string kubelet_cgroup_root,
                std::string proc_folder)
      : groups_(groups),
        folders_(std::move(hierarchy), std::move(kubelet_cgroup_root)),
        reads_(std::move(proc_folder)) {}

  std::optional<synergy::MemoryUse> Read(const wire::ResizeStatus& pod,
                                         const wire::ResizeStatus::Container& container) override;

 private:
  MemoryGroups& groups_;
  const CgroupFolders folders_;
  GroupReads reads_;
};

}  // namespace synergy::nodeagent
