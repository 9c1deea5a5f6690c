#pragma once

// Identifies pods of the same kind, so that measurements of one hold for the others, or are a hint
// for them (profile/measured/workload_identities.h, docs/internals/profiling.md).
//
//   exact      the label synergy.io/workload if their author set it, otherwise "w-" and 16
//              hexadecimal digits, a hash of the image, the command and the arguments of the
//              container that has the GPUs
//   arguments  "a-...", the same without arguments that do not change the speed
//              (admission/passing_arguments.h)
//   owner      "o-...", of the template: a CronJob, a Katib experiment, a group of a RayCluster
//
// A pod does not name the CronJob or RayJob that made its owner. That name is derived from the
// owner's name, which adds the time of the run or random characters to it.
//
// Some programs are only servers that get their work later (`sshd` of an MPIJob's workers,
// `ray start`). Their arguments do not say what trains, so such pods have no identity by arguments,
// and the exact one of `sshd` includes the owner's name. A pod with the label has no looser one.
//
// The digits are the same in every version and on every machine: they are parts of the names of
// TrainingProfiles. Users who can create pods in a namespace can also make two of its workloads
// collide; profiles never leave their namespace.
//
// Threading: pure.

#include <string>

#include "admission/pod_to_admit.h"
#include "profile/measured/workload_identities.h"

namespace synergy {

// Returns the exact identity: at most 63 characters. Empty: the pod has no container with GPUs, or
// was created without a workload.
std::string WorkloadOf(const PodToAdmit& pod);

// Returns the looser ones.
LooserIdentities LooserIdentitiesOf(const PodToAdmit& pod);

}  // namespace synergy
