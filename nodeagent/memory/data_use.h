#pragma once

// Reads how a training uses memory and its input, for the profiler
// (profile/measured/memory_study.h): the memory of its container's control group, the bytes that
// its processes' read calls returned, and how many of these came from storage. There are no
// readings if its processes are invisible to the agent (nodeagent/cgroups/group_reads.h).
//
// Threading: any thread.

#include <optional>
#include <string>
#include <utility>

#include "nodeagent/cgroups/cgroup_folders.h"
#include "nodeagent/cgroups/group_reads.h"
#include "nodeagent/memory/memory_groups.h"
#include "profile/pod_progress.h"
#include "wire/objects/resize_status.h"

namespace synergy::nodeagent {

class DataUse {
 public:
  virtual ~DataUse() = default;

  // Returns the use so far, without `at` and `shared`; nullopt if any part of it cannot be read.
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
