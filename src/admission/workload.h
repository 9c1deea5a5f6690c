#pragma once

// Identifies pods of the same kind, so that measurements of one apply to the others, or serve as a
// hint (profile/measured/workload_identities.h, docs/internals/profiling.md).
//
//   exact      the label synergy.io/workload if their author set it, otherwise "w-" and 16
//              hexadecimal digits, a hash of the image, the command and the arguments of the
//              container that has the GPUs
//   arguments  "a-...", the same without arguments that do not change the speed
//              (admission/passing_arguments.h)
//   owner      "o-...", of the template: a CronJob, a Katib experiment, a group of a RayCluster
//
// A pod does not name the CronJob or RayJob that created its owner. That name is derived from the
// owner's name, which appends the time of the run or random characters.
//
// Some programs are only servers that get their work later (`sshd` of an MPIJob's workers, `ray
// start`). Their arguments do not identify the training, so such pods have no identity by
// arguments, and the exact identity of `sshd` includes the owner's name. A pod with the label has
// no looser identity.
//
// The digits are the same in every version and on every machine, because they are part of the names
// of TrainingProfiles. Users who can create pods in a namespace can also make two of its workloads
// collide; profiles never leave their namespace.
//
// Threading: pure.

#include <string>

#include "admission/pod_to_admit.h"
#include "profile/measured/workload_identities.h"

namespace synergy {

// Returns the exact identity, of at most 63 characters. Returns an empty text if the pod has no
// container with GPUs, or was created without a workload.
std::string WorkloadOf(const PodToAdmit& pod);

// Returns the looser identities.
LooserIdentities LooserIdentitiesOf(const PodToAdmit& pod);

}  // namespace synergy
