#pragma once

// How large a pod's gang is where the pod does not say so: by the object that has made it, or that
// it names (docs/gangs.md has the table).
//
//   Job (batch/v1)             Indexed, completions = parallelism, with a subdomain: as many; of a
//                              JobSet's (pods labelled by it) times the replicated job's replicas
//   PyTorchJob (kubeflow.org)  the workers and the master, those that have GPUs; none where it is
//                              elastic
//   MPIJob (kubeflow.org)      the workers
//   PodGroup                   spec.minMember (scheduling.x-k8s.io, of scheduler-plugins)
//   PodGroup                   spec.schedulingPolicy.gang.minCount (scheduling.k8s.io/v1beta1,
//                              Kubernetes' own); with the policy `basic` it says nothing
//
// A pod that carries a word about its gang is judged by that alone (cluster/gang.h), unless it is
// of a JobSet that creates some of the gang's pods only once others are ready or done.
//
// Threading: pure. Failures: what cannot be read, or makes no sense, is no gang.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "admission/pod_to_admit.h"
#include "core/result.h"

namespace synergy::wire {

enum class GangOwnerKind : uint8_t {
  kJob,
  kPyTorchJob,
  kMpiJob,
  kPodGroup,
  kSchedulingGroup,
  kJobSet,
};

// What has to be read.
struct GangOwner {
  GangOwnerKind kind = GangOwnerKind::kJob;
  std::string gang;       // the gang's name (cluster/gang.h)
  std::string label;      // its label, where no other says the name; empty: one does
  std::string path;       // on the API server
  std::string uid;        // that the object has to have; empty: any
  int32_t replicas = 1;   // of a JobSet's replicated job: how many such owners the gang has
  std::string described;  // "Job team/bert"
};

// None for a pod of no such owner, for one that carries a word about its gang itself, and for one
// that cannot be a member: a launcher.
std::optional<GangOwner> FindGangOwner(const PodToAdmit& pod);

// The PodGroup that the pod's spec names. It goes before what FindGangOwner() gives, but for the
// pods that this leaves to themselves.
std::optional<GangOwner> FindSchedulingGroup(const PodToAdmit& pod);

// The JobSet of a pod that names its gang itself. Its GangSize is 1 where pods of that gang wait
// for others of it, so that nobody could place all at once; else 0.
std::optional<GangOwner> FindJobSet(const PodToAdmit& pod);

struct GangSize {
  int32_t size = 1;    // 1: no gang; 0: another owner has to say
  bool begun = false;  // pods of it exist, as far as the owner has counted them
  // Bounds the gang: "node" or "rack" (of whatever label); empty: it may be anywhere.
  std::string_view within = {};

  bool operator==(const GangSize&) const = default;
};

// By the owner's `text`. kInvalid where it is no JSON object.
Result<GangSize> ReadGangSize(std::string_view text, const GangOwner& owner,
                              std::string_view gpu_resource);

}  // namespace synergy::wire
