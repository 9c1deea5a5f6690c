#pragma once

// What pods that are alike have in common, so that what is measured of one holds for the others
// (docs/profiling.md): the label synergy.io/workload where their author set it, else "w-" and 16
// hexadecimal digits over the image, the command and the arguments of the container that has the
// GPUs.
//
// The digits are the same in every version and on every machine: they are parts of the names of
// TrainingProfiles. Who can create pods in a namespace can also make two workloads of it collide;
// profiles never leave their namespace.
//
// Threading: pure.

#include <string>

#include "admission/pod_to_admit.h"

namespace synergy {

// At most 63 characters. Empty: the pod has no container with GPUs, or was created without one.
std::string WorkloadOf(const PodToAdmit& pod);

}  // namespace synergy
