#pragma once

// The memory of a pod and of its containers, as control groups. The seam between what is decided
// and the kernel.
//
// Threading: from any thread; a MemoryGroup by one at a time.
// Failures: kNotFound when there is no such group, which is so as soon as a container has ended;
// kDenied, kInvalid for what the kernel refuses.

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
  // What the kernel enforces now.
  virtual Result<Bytes> Limit() = 0;
  virtual Result<MemorySample> Sample() = 0;
  // Has the kernel drop `amount` of this group's page cache, the least recently used first, in one
  // go: small amounts. Never anonymous memory. False when it could not find so much. kInvalid where
  // the kernel cannot do that.
  virtual Result<bool> Drop(Bytes amount) = 0;
  // Has the kernel give page cache of this group back, the least recently used first, until its
  // usage is at most `target`, there is no more to give, or `stop`. What is left tells.
  virtual Result<> Release(Bytes target, const std::stop_token& stop) = 0;
};

class MemoryGroups {
 public:
  virtual ~MemoryGroups() = default;

  virtual Result<std::unique_ptr<MemoryGroup>> OfPod(const wire::ResizeStatus& pod) = 0;
  virtual Result<std::unique_ptr<MemoryGroup>> OfContainer(
      const wire::ResizeStatus& pod, const wire::ResizeStatus::Container& container) = 0;
};

// Where the memory controller is mounted below `cgroup_folder`: with v1 a hierarchy of its own.
std::string MemoryHierarchy(const std::string& cgroup_folder);

// The machine's. `cgroup_folder` is where its control groups are seen ("/sys/fs/cgroup").
// kNotFound when no memory controller is there.
Result<std::unique_ptr<MemoryGroups>> FindMemoryGroups(std::string cgroup_folder,
                                                       std::string kubelet_cgroup_root);

}  // namespace synergy::nodeagent
