#pragma once

// Determines the size of a pod's gang if the pod does not state it. The size comes from the object
// that created the pod, or that the pod names (docs/internals/gangs.md has the table).
//
//   Job (batch/v1)             Indexed, completions = parallelism, with a subdomain: that number;
//                              for a JobSet (pods labelled by it) times the replicated job's
//                              replicas. With the label synergy.io/gang of the pods: completions =
//                              parallelism
//   PyTorchJob (kubeflow.org)  the workers and the master, those that have GPUs; if it is elastic,
//                              its minReplicas, those of the lowest indices
//   MPIJob (kubeflow.org)      the workers, and the launcher if it has GPUs and is created with
//                              them
//   RayCluster (ray.io)        the workers of a group: replicas x numOfHosts; where Ray's
//                              autoscaler adds more, minReplicas x numOfHosts, those of the lowest
//                              indices. The head is not a member
//   LeaderWorkerSet            a group: its leader and workers, those that have GPUs; none if the
//                              workers are created only once the leader is ready
//   PodGroup                   spec.minMember (scheduling.x-k8s.io, of scheduler-plugins)
//   PodGroup                   spec.schedulingPolicy.gang.minCount (scheduling.k8s.io/v1beta1,
//                              Kubernetes' own); none with the policy `basic`
//
// If a pod's own labels name its gang or the size, only they count (cluster/gang.h). The exception
// is a JobSet that creates some of the gang's pods only once others are ready or done.
//
// Threading: pure. Failures: an unreadable or invalid owner gives no gang.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "admission/pod_to_admit.h"
#include "core/result.h"
#include "core/units.h"

namespace synergy::wire {

enum class GangOwnerKind : uint8_t {
  kJob,
  kPyTorchJob,
  kMpiJob,
  kPodGroup,
  kSchedulingGroup,
  kJobSet,
  kRayCluster,
  kLeaderWorkerSet,
};

// Names the object to read, and how to read it.
struct GangOwner {
  GangOwnerKind kind = GangOwnerKind::kJob;
  std::string gang;      // the gang's name (cluster/gang.h)
  std::string label;     // the gang's name as a label, if no label of the pod has it
  std::string path;      // on the API server
  std::string uid;       // the UID that the object must have; empty: any
  int32_t replicas = 1;  // for a JobSet's replicated job: number of such owners in the gang
  // For a RayCluster: the name of the pod's worker group. For an MPIJob: "launcher" for that pod.
  std::string group = {};
  // The pod's index (for a RayCluster, its replica's) among those of its owner; nullopt: none.
  std::optional<int64_t> index = {};
  bool is_named = false;  // the pods of a Job name their gang, but not its size
  std::string described;  // "Job team/bert"
};

// Returns nullopt for a pod without such an owner, for a pod whose own labels name its gang, and
// for a launcher, which cannot be a member.
std::optional<GangOwner> FindGangOwner(const PodToAdmit& pod);

// Returns the PodGroup that the pod's spec names. It takes precedence over FindGangOwner(), unless
// it does not exist or does not state a size.
std::optional<GangOwner> FindSchedulingGroup(const PodToAdmit& pod);

// Returns the JobSet of a pod that names its gang itself. The GangSize of the JobSet is 1 if some
// pods of the gang wait for others, so that the gang can never be placed at once; otherwise 0.
std::optional<GangOwner> FindJobSet(const PodToAdmit& pod);

struct GangSize {
  int32_t size = 1;    // 1: no gang; 0: another owner decides
  bool begun = false;  // its pods exist, as far as the owner has counted them
  // Only pods with an index below this are members, because the owner has more; nullopt: all pods
  // are members.
  std::optional<int64_t> below = {};
  // The tier within which the gang stays: "node" or "rack" (of any label); empty: anywhere.
  std::string_view within = {};

  bool operator==(const GangSize&) const = default;
};

// Returns whether the pod for which `owner` was found is a member, by its index.
bool IsMember(const GangSize& gang, const GangOwner& owner);

// Determines whether a template of pods has GPUs.
struct GpusInTemplates {
  std::string_view resource;  // the extended resource that its containers request
  // Returns the GPUs of a claim made from this ResourceClaimTemplate of the owner's namespace;
  // nullopt if they are unknown. Null: claims do not count.
  std::function<std::optional<Gpus>(std::string_view)> of_claim = nullptr;
};

// Reads the owner's `text`; kInvalid if it is not a JSON object.
Result<GangSize> ReadGangSize(std::string_view text, const GangOwner& owner,
                              const GpusInTemplates& gpus);

}  // namespace synergy::wire
