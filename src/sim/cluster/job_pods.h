#pragma once

// The pods of a job as admission makes them, and those that were there before.
//
// Threading: pure, as far as the Surroundings are.

#include <cstdint>
#include <string>
#include <vector>

#include "admission/admission.h"
#include "admission/sizing.h"
#include "cluster/fungible.h"
#include "cluster/pod.h"
#include "core/clock.h"
#include "core/result.h"
#include "core/units.h"
#include "profile/job_profile.h"

namespace synergy {

struct JobOfPods {
  std::string name;  // the pods are NAME-0, NAME-1, ...; that is their uid, too
  uint32_t run = 1;  // pods of later runs have the uids NAME-0-run-2, ...
  std::string pod_namespace;
  std::string model;  // the TrainingProfile of this name in the namespace
  Gpus gpus;
  // Its profile is the measured one of the workload `model`; until there is one, it has none.
  bool measured = false;
};

// Returns the number of pods of a job: as few as `most_gpus` for each allows.
int64_t PodCount(Gpus gpus, Gpus most_gpus);

// Several pods are a gang of the job's name. Of as few pods as `most_gpus` for each allows, with
// about as many GPUs each. kInvalid with the reason where admission does not manage them;
// kUnavailable where it makes placeholders of them, which nobody binds, until a node has GPUs that
// others do not use.
Result<std::vector<Pod>> PodsOf(const JobOfPods& job, Gpus most_gpus,
                                const AdmissionSurroundings& surroundings,
                                const AdmissionSettings& settings, WallTime now);

// The pod's floor and demand are its fair share, so that nothing is taken from it or given to it.
void GiveFairShare(Pod& pod);

// The pod has the profile `name` from now on, for its GPUs, as the product's controller writes it.
void Adopt(Fungible& fungible, const std::string& name, int64_t generation,
           const JobProfile& profile, const ProfileTrust& trust);

// A pod of the starting cluster, which begins at `at`, as it goes on from there: its node's agent
// never fails. What it told last of the pod's memory is what it goes on telling.
Pod GoingOn(Pod pod, WallTime at);

}  // namespace synergy
