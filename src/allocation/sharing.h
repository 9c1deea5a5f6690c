#pragma once

// Computes how running jobs share a node's resources: by weighted max-min fairness, each job up to
// its maximum use. The kernel divides CPU in this way (cgroup v2 cpu.weight, from the pods' CPU
// requests), and storage with equal weights (storage/storage_left.h).
//
// Threading: pure functions.

#include <span>
#include <vector>

#include "core/resources.h"
#include "profile/job_profile.h"

namespace synergy {

// One user of a divided resource.
struct ShareUser {
  double weight = 0;
  double most = 0;  // what it can use
};

// Returns how much of `whole` each user gets, at most its `most`. Users that can use more share the
// rest by their weights.
std::vector<double> MaxMinShares(std::span<const ShareUser> users, double whole);

// One user of the CPU.
struct CpuUser {
  double weight = 0;  // its CPU request; 0 gets only what the others leave
  MilliCpu most;      // what it can use
};

// Returns how much of `cpu` each user gets.
std::vector<MilliCpu> ShareCpu(std::span<const CpuUser> users, MilliCpu cpu);

// Returns the least CPU with which a job reaches its full speed with `memory`.
MilliCpu UsefulCpu(const JobProfile& profile, Bytes memory);

}  // namespace synergy
