#pragma once

// Reads the memory use of pods and containers from their control groups, and releases page cache.
//
// Threading: any thread; only one at a time may use a MemoryGroup. Failures: kNotFound if there is
// no such group, for example because the container has ended; kDenied or kInvalid if the kernel
// refuses.

#include <memory>
#include <stop_token>
#include <string>

#include "core/result.h"
#include "nodeagent/memory/memory_use.h"
#include "wire/objects/resize_status.h"

namespace synergy::nodeagent {

class MemoryGroup {
 public:
  virtual ~MemoryGroup() = default;

  virtual Result<MemoryUse> Read() = 0;
  // Returns the limit in force.
  virtual Result<Bytes> Limit() = 0;
  virtual Result<MemorySample> Sample() = 0;
  // Drops `amount` of this group's page cache in one call, least recently used first, and never
  // anonymous memory. Meant for small amounts. Returns false if the kernel could not find that
  // much, and kInvalid if the kernel cannot drop cache alone.
  virtual Result<bool> Drop(Bytes amount) = 0;
  // Releases page cache of this group, least recently used first. Ends when the group's usage is at
  // most `target`, there is no more to release, or `stop` is requested. Read() shows the result.
  virtual Result<> Release(Bytes target, const std::stop_token& stop) = 0;
};

class MemoryGroups {
 public:
  virtual ~MemoryGroups() = default;

  virtual Result<std::unique_ptr<MemoryGroup>> OfPod(const wire::ResizeStatus& pod) = 0;
  virtual Result<std::unique_ptr<MemoryGroup>> OfContainer(
      const wire::ResizeStatus& pod, const wire::ResizeStatus::Container& container) = 0;
};

// Returns the mount point of the memory controller below `cgroup_folder`; v1 has one hierarchy per
// controller.
std::string MemoryHierarchy(const std::string& cgroup_folder);

// Returns the machine's groups. `cgroup_folder` is where its control groups are mounted
// ("/sys/fs/cgroup"). Returns kNotFound if no memory controller is mounted.
Result<std::unique_ptr<MemoryGroups>> FindMemoryGroups(std::string cgroup_folder,
                                                       std::string kubelet_cgroup_root);

}  // namespace synergy::nodeagent
