#pragma once

// The memory of a cgroup v1 group. A write to memory.force_empty releases all page cache of the
// group, a few pages at a time, until a signal interrupts the writer. So a second thread watches
// the usage and interrupts the write as soon as enough is released. For example, 180 MB with a
// target of 150 MB ended at 149.1 MB after 17 ms. Lowering memory.limit_in_bytes would also be
// exact, but the kubelet owns that setting, and the change would outlive this process. Private to
// memory_groups.cc and its tests.

#include <string>

#include "nodeagent/memory/memory_groups.h"

namespace synergy::nodeagent {

class V1MemoryGroup final : public MemoryGroup {
 public:
  // The first object installs a handler for SIGUSR1 in this process.
  explicit V1MemoryGroup(std::string folder);

  Result<MemoryUse> Read() override;
  Result<Bytes> Limit() override;
  Result<MemorySample> Sample() override;
  // Unsupported in v1, which can only drop all cache.
  Result<bool> Drop(Bytes amount) override;
  Result<> Release(Bytes target, const std::stop_token& stop) override;

 private:
  const std::string folder_;
};

}  // namespace synergy::nodeagent
