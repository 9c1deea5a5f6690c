#pragma once

// Creates the pods of a job as admission makes them, and the pods of the starting cluster.
//
// Threading: pure if the Surroundings are.

#include <cstdint>
#include <string>
#include <vector>

#include "admission/admission.h"
#include "admission/sizing.h"
#include "cluster/managed_container.h"
#include "cluster/pod.h"
#include "core/clock.h"
#include "core/result.h"
#include "core/units.h"
#include "profile/job_profile.h"

namespace synergy {

struct JobOfPods {
  std::string name;  // pod names and uids: NAME-0, NAME-1, ...
  uint32_t run = 1;  // pods of later runs have the uids NAME-0-run-2, ...
  std::string pod_namespace;
  std::string model;  // name of the TrainingProfile in the namespace
  Gpus gpus;
  std::string gpu_product = {};  // selected by its pods; empty: any
  // Whether the job uses the measured profile of the workload `model`; until one exists, it has no
  // profile.
  bool measured = false;
};

// Returns the number of pods of a job: as few as `most_gpus` per pod allows.
int64_t PodCount(Gpus gpus, Gpus most_gpus);

// Returns the job's pods: as few as possible with at most `most_gpus` GPUs each, and about equally
// many GPUs per pod. Several pods form a gang with the job's name. Returns kInvalid with the reason
// if admission does not manage the pods. Returns kUnavailable if admission gives them placeholders,
// with which they are not scheduled until a node has GPUs that unmanaged pods do not use.
Result<std::vector<Pod>> PodsOf(const JobOfPods& job, Gpus most_gpus,
                                const AdmissionSurroundings& surroundings,
                                const AdmissionSettings& settings, WallTime now);

// Sets the pod's floor and demand to its fair share, so that it neither loses nor gains anything.
void GiveFairShare(Pod& pod);

// Gives the pod the profile `name`, scaled to its GPUs, as the product's controller writes it.
void Adopt(ManagedContainer& fungible, const std::string& name, int64_t generation,
           const JobProfile& profile, const ProfileTrust& trust);

// Returns a pod of the starting cluster as it continues from `at`, the beginning of the simulation.
// Its node's agent never fails: it repeats the pod's last memory reading forever.
Pod GoingOn(Pod pod, WallTime at);

}  // namespace synergy
