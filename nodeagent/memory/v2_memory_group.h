#pragma once

// The memory of a cgroup v2 group. Writing a number of bytes to memory.reclaim releases that much
// memory (Linux 5.19). Without swap this can only be page cache. With swap, swappiness=0 makes the
// kernel spare anonymous memory (Linux 6.9). If the kernel does not support that, nothing is
// reclaimed. Private to memory_groups.cc and its tests.

#include <string>
#include <utility>

#include "nodeagent/memory/memory_groups.h"

namespace synergy::nodeagent {

class V2MemoryGroup final : public MemoryGroup {
 public:
  // `proc_folder`: the mount point of /proc.
  V2MemoryGroup(std::string folder, std::string proc_folder)
      : folder_(std::move(folder)), proc_folder_(std::move(proc_folder)) {}

  Result<MemoryUse> Read() override;
  Result<Bytes> Limit() override;
  Result<MemorySample> Sample() override;
  Result<bool> Drop(Bytes amount) override;
  Result<> Release(Bytes target, const std::stop_token& stop) override;

 private:
  bool MaySwap() const;

  const std::string folder_;
  const std::string proc_folder_;
  bool refused_ = false;  // the kernel cannot spare anonymous memory
};

}  // namespace synergy::nodeagent
