#pragma once

// The sensitivity matrices of the paper's authors: jobs of one GPU on servers with 8 GPUs, 24 CPUs
// and 500 GB, throughput relative to the fair share (tests/data/synergy).
//
// Threading: pure but for reading the file. Failures: end the process.

#include <map>
#include <string>

#include "profile/job_profile.h"

namespace synergy::testing {

// By model.
std::map<std::string, JobProfile> ReferenceProfiles();

}  // namespace synergy::testing
