#pragma once

// How jobs share CPU at run time: the kernel's weighted max-min fairness (cgroup v2 cpu.weight,
// from the pods' CPU requests), each job up to what it can use.
//
// Threading: pure functions.

#include <span>
#include <vector>

#include "core/resources.h"
#include "profile/job_profile.h"

namespace synergy {

// One user of the CPU.
struct CpuUser {
  double weight = 0;  // its CPU request; 0 gets only what the others leave
  MilliCpu most;      // what it can use
};

// How much of `cpu` each user gets, at most its `most`. What one leaves goes to the others by their
// weights.
std::vector<MilliCpu> ShareCpu(std::span<const CpuUser> users, MilliCpu cpu);

// The least CPU with which a job reaches its full speed with `memory`.
MilliCpu UsefulCpu(const JobProfile& profile, Bytes memory);

}  // namespace synergy
