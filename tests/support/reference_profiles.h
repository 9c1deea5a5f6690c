#pragma once

// Reads the sensitivity matrices of the paper's authors: jobs with one GPU on servers with 8 GPUs,
// 24 CPUs and 500 GB, throughput relative to the fair share (tests/data/synergy).
//
// Threading: pure, except for reading the file. Failures: end the process.

#include <map>
#include <string>

#include "profile/job_profile.h"

namespace synergy::testing {

// Returns the profiles by model.
std::map<std::string, JobProfile> ReferenceProfiles();

}  // namespace synergy::testing
