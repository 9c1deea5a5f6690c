#pragma once

// Plans a temporary CPU quota for a pod: which file to write, and what.
//
//   v2  cpu.max of the pod
//   v1  cpu.cfs_quota_us of the pod; that of its training container if any container of the pod has
//       its own quota, because the kernel refuses a group a smaller quota than a group below it has
//
// The period stays as it is (100 ms, unless the kubelet's cpuCFSQuotaPeriod differs), so that one
// write sets the quota and one restores it.
//
// Threading: from any thread.
// Failures: kNotFound if there is no such group; kInvalid for an impossible amount: less than 1 ms
// of a period, or no less than the group's present quota.

#include <memory>
#include <string>
#include <string_view>

#include "core/result.h"
#include "core/units.h"
#include "wire/objects/resize_status.h"

namespace synergy::nodeagent {

struct QuotaPlan {
  std::string file;
  std::string text;  // also the file's content afterwards
};

class CpuQuotas {
 public:
  virtual ~CpuQuotas() = default;
  virtual Result<QuotaPlan> Plan(const wire::ResizeStatus& pod,
                                 const wire::ResizeStatus::Container& training, MilliCpu cpu) = 0;
  // Returns the present content of a plan's file.
  virtual Result<std::string> Read(const std::string& file) = 0;
};

// Returns the machine's quotas. kNotFound: no CPU controller is mounted.
Result<std::unique_ptr<CpuQuotas>> FindCpuQuotas(std::string cgroup_folder,
                                                 std::string kubelet_cgroup_root);

// Returns the text for `cpu`, given the file's present content: "max 100000" or "40000 100000".
Result<std::string> QuotaTextV2(MilliCpu cpu, std::string_view present);
// The same for cpu.cfs_quota_us: "-1" or "40000"; `period` is the content of cpu.cfs_period_us.
Result<std::string> QuotaTextV1(MilliCpu cpu, std::string_view present, std::string_view period);

}  // namespace synergy::nodeagent
