#pragma once

// How CPU that several jobs may use is shared among them at run time: the kernel's weighted max-min
// fairness (cgroup v2 cpu.weight, from the pods' CPU requests), each job up to what it can use.
//
// Threading: pure functions.

#include <span>
#include <vector>

#include "core/resources.h"
#include "profile/job_profile.h"

namespace synergy {

// One user of the CPU.
struct CpuUser {
  double weight = 0;  // its CPU request; 0 gets what nobody else wants
  MilliCpu most;      // what it can use
};

// How much each gets of `cpu`. Nobody gets more than its `most`; what one leaves goes to the others
// by their weights.
std::vector<MilliCpu> ShareCpu(std::span<const CpuUser> users, MilliCpu cpu);

// The least CPU with which a job runs as fast as it can with `memory`.
MilliCpu UsefulCpu(const JobProfile& profile, Bytes memory);

}  // namespace synergy
