#pragma once

// cgroup v1: writing to memory.force_empty has the kernel give back all page cache of the group, a
// few pages at a time, until a signal interrupts the writer. So a second thread watches the usage
// and interrupts as soon as enough is back: 180 MB to a target of 150 MB ended at 149.1 MB after
// 17 ms. Lowering memory.limit_in_bytes instead would be exact too, but that is the kubelet's to
// set, and would outlive us. Private to memory_groups.cc and its tests.

#include <string>

#include "nodeagent/memory/memory_groups.h"

namespace synergy::nodeagent {

class V1MemoryGroup final : public MemoryGroup {
 public:
  // Takes SIGUSR1 for this process, from the first one on.
  explicit V1MemoryGroup(std::string folder);

  Result<MemoryUse> Read() override;
  Result<Bytes> Limit() override;
  Result<MemorySample> Sample() override;
  // Not on this version: it can only drop all.
  Result<bool> Drop(Bytes amount) override;
  Result<> Release(Bytes target, const std::stop_token& stop) override;

 private:
  const std::string folder_;
};

}  // namespace synergy::nodeagent
