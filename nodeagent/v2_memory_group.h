#pragma once

// cgroup v2: memory.reclaim takes a number of bytes (Linux 5.19). Private to memory_groups.cc and
// its tests.

#include <string>

#include "nodeagent/memory_groups.h"

namespace synergy::nodeagent {

class V2MemoryGroup final : public MemoryGroup {
 public:
  explicit V2MemoryGroup(std::string folder) : folder_(std::move(folder)) {}

  Result<MemoryUse> Read() override;
  Result<Bytes> Limit() override;
  Result<> Release(Bytes target, const std::stop_token& stop) override;

 private:
  const std::string folder_;
};

}  // namespace synergy::nodeagent
