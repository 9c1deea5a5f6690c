#pragma once

// Reads the CPU time of containers from their control groups.
//
// Threading: any thread. Failures: kNotFound if there is no such group; kInvalid for files that
// cannot be parsed.

#include <memory>
#include <string>
#include <string_view>

#include "core/result.h"
#include "profile/pod_progress.h"
#include "wire/objects/resize_status.h"

namespace synergy::nodeagent {

class CpuGroups {
 public:
  virtual ~CpuGroups() = default;
  virtual Result<CpuUse> Read(const wire::ResizeStatus& pod,
                              const wire::ResizeStatus::Container& container) = 0;
};

// Returns the machine's groups; kNotFound if no CPU controller is mounted.
Result<std::unique_ptr<CpuGroups>> FindCpuGroups(std::string cgroup_folder,
                                                 std::string kubelet_cgroup_root);

// Parses cpu.stat and cpu.pressure (empty if the kernel has none).
Result<CpuUse> ParseCpuUseV2(std::string_view stat, std::string_view pressure);
// Parses cpuacct.usage and cpu.stat.
Result<CpuUse> ParseCpuUseV1(std::string_view usage, std::string_view stat);

}  // namespace synergy::nodeagent
