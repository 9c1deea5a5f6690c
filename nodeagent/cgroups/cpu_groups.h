#pragma once

// The CPU time of containers, from their control groups. The seam between what is decided and the
// kernel.
//
// Threading: from any thread.
// Failures: kNotFound when there is no such group; kInvalid for what cannot be understood.

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

// The machine's. kNotFound when no CPU controller is there.
Result<std::unique_ptr<CpuGroups>> FindCpuGroups(std::string cgroup_folder,
                                                 std::string kubelet_cgroup_root);

// cpu.stat and cpu.pressure (empty where the kernel has none).
Result<CpuUse> ParseCpuUseV2(std::string_view stat, std::string_view pressure);
// cpuacct.usage and cpu.stat.
Result<CpuUse> ParseCpuUseV1(std::string_view usage, std::string_view stat);

}  // namespace synergy::nodeagent
