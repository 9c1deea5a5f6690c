#pragma once

// Where a CPU quota has to be written so that a pod has no more than so much for a moment, and
// what.
//
//   v2  cpu.max of the pod
//   v1  cpu.cfs_quota_us of the pod; of its training container where any container of the pod has a
//       quota of its own. There the kernel refuses a group a quota that is smaller than one below
//       it
//
// The period stays as it is (100 ms, unless the kubelet's cpuCFSQuotaPeriod says otherwise), so
// that one write does it and one undoes it.
//
// Threading: from any thread.
// Failures: kNotFound when there is no such group; kInvalid for an amount that cannot be: less than
// 1 ms of a period, or no less than what the group has already.

#include <memory>
#include <string>
#include <string_view>

#include "core/result.h"
#include "core/units.h"
#include "wire/objects/resize_status.h"

namespace synergy::nodeagent {

struct QuotaPlan {
  std::string file;
  std::string text;  // also what the file then says
};

class CpuQuotas {
 public:
  virtual ~CpuQuotas() = default;
  virtual Result<QuotaPlan> Plan(const wire::ResizeStatus& pod,
                                 const wire::ResizeStatus::Container& training, MilliCpu cpu) = 0;
  // What a plan's file says now.
  virtual Result<std::string> Read(const std::string& file) = 0;
};

// The machine's. kNotFound when no CPU controller is there.
Result<std::unique_ptr<CpuQuotas>> FindCpuQuotas(std::string cgroup_folder,
                                                 std::string kubelet_cgroup_root);

// The text for `cpu`, where the file says `present`: "max 100000" or "40000 100000".
Result<std::string> QuotaTextV2(MilliCpu cpu, std::string_view present);
// Likewise of cpu.cfs_quota_us: "-1" or "40000"; `period` is what cpu.cfs_period_us says.
Result<std::string> QuotaTextV1(MilliCpu cpu, std::string_view present, std::string_view period);

}  // namespace synergy::nodeagent
