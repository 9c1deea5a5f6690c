#pragma once

// Identifies pods of the same kind, so that measurements of one hold for the others
// (docs/profiling.md): the label synergy.io/workload if their author set it, otherwise "w-" and 16
// hexadecimal digits, a hash of the image, the command and the arguments of the container that has
// the GPUs.
//
// The digits are the same in every version and on every machine: they are parts of the names of
// TrainingProfiles. Users who can create pods in a namespace can also make two of its workloads
// collide; profiles never leave their namespace.
//
// Threading: pure.

#include <string>

#include "admission/pod_to_admit.h"

namespace synergy {

// At most 63 characters. Empty: the pod has no container with GPUs, or was created without a
// workload.
std::string WorkloadOf(const PodToAdmit& pod);

}  // namespace synergy
