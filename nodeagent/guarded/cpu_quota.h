#pragma once

// Plans a temporary CPU quota for a pod: which files to write, and with which texts.
//
//              v2: cpu.max of               v1: cpu.cfs_quota_us of
//   a probe    the pod                      the pod; but the training container if any container of
//                                           the pod has its own quota, because the kernel refuses a
//                                           group a smaller quota than a group below it has
//   a burst    first the pod, if it has a quota, which grows by as much as that of the container;
//              then the training container
//
// The period does not change (100 ms, unless the kubelet's cpuCFSQuotaPeriod differs), so that one
// write sets a quota and one restores it. The quota is a microsecond longer than requested. A
// kubelet writes whole milli-CPUs, so its own later writes are distinguishable, even for the same
// amount.
//
// Threading: any thread. Failures: kNotFound if there is no such group; kInvalid for an impossible
// amount. An amount is impossible if it is less than 1 ms per period. A probe's amount must be
// below the group's present quota, a burst's above it.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/managed_container.h"
#include "core/result.h"
#include "wire/objects/resize_status.h"

namespace synergy::nodeagent {

struct PlannedQuota {
  std::string file;
  std::string text;  // also the file's content afterwards

  bool operator==(const PlannedQuota&) const = default;
};
// Files in the order in which they are written; they are restored in reverse order.
using QuotaPlan = std::vector<PlannedQuota>;

class CpuQuotas {
 public:
  virtual ~CpuQuotas() = default;
  virtual Result<QuotaPlan> Plan(const wire::ResizeStatus& pod,
                                 const wire::ResizeStatus::Container& training,
                                 const CpuProbe& probe) = 0;
  // Returns the present content of a planned file.
  virtual Result<std::string> Read(const std::string& file) = 0;
};

// Returns the machine's quotas; kNotFound if no CPU controller is mounted.
Result<std::unique_ptr<CpuQuotas>> FindCpuQuotas(std::string cgroup_folder,
                                                 std::string kubelet_cgroup_root);

}  // namespace synergy::nodeagent
