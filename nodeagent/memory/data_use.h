#pragma once

// Reads how a training uses memory and its input, for the profiler
// (profile/measured/memory_study.h): the memory of its container's control group, the bytes that
// its processes' read calls returned, and how many of these came from storage.
//
// The kernel counts reads per process (/proc/PID/io: rchar, read_bytes), not per group. A process
// that ends passes its counts to the process that waits for it, so the living ones have them all.
// Requires the host's PID namespace and the capabilities SYS_PTRACE and DAC_READ_SEARCH; otherwise
// there are no readings (docs/internals/node-agent.md).
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

// Limit of processes in a group, because each takes one file read; beyond it there are no readings.
inline constexpr size_t kMostProcesses = 512;

struct ReadTotals {
  double read = 0;     // bytes that read calls returned, from files and all other sources
  double fetched = 0;  // bytes that came from storage
};
// Parses the text of /proc/PID/io; none if it is malformed.
std::optional<ReadTotals> ParseProcessReads(std::string_view io);

// Sums what the processes of control groups have read.
class GroupReads {
 public:
  explicit GroupReads(std::string proc_folder) : proc_folder_(std::move(proc_folder)) {}

  // Returns the totals of the group in `folder`, never less than before; none if its processes are
  // invisible, unreadable, or too many.
  std::optional<ReadTotals> Of(const std::string& folder);

 private:
  struct Group {
    ReadTotals reported;
    ReadTotals lost;  // of processes that were never waited for
    int behind = 0;   // looks in a row with less than the last totals
  };

  std::optional<ReadTotals> Sum(const std::string& folder) const;

  const std::string proc_folder_;
  std::mutex mutex_;
  std::map<std::string, Group> groups_;  // by folder
};

class DataUse {
 public:
  virtual ~DataUse() = default;

  // Returns the use so far, without `at` and `shared`; none if any part of it cannot be read.
  virtual std::optional<synergy::MemoryUse> Read(
      const wire::ResizeStatus& pod, const wire::ResizeStatus::Container& container) = 0;
};

// Reads from the kernel. `hierarchy`: mount point of the memory controller.
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
