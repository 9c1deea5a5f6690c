#pragma once

// cgroup v2: memory.reclaim takes a number of bytes (Linux 5.19). Without swap only page cache can
// go; with it the kernel is told to leave anonymous memory alone (swappiness=0, Linux 6.9), and
// where it does not know that nothing is reclaimed. Private to memory_groups.cc and its tests.

#include <string>
#include <utility>

#include "nodeagent/memory/memory_groups.h"

namespace synergy::nodeagent {

class V2MemoryGroup final : public MemoryGroup {
 public:
  // `proc_folder` is where /proc is seen.
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
  bool refused_ = false;  // the kernel cannot leave anonymous memory alone
};

}  // namespace synergy::nodeagent
