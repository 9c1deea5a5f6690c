#pragma once

// The fields of Kueue's objects on which decisions about its queues depend (docs/queues.md);
// wire/kueue reads them.
//
// Threading: values; pure.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/node_selection.h"
#include "core/clock.h"
#include "core/units.h"
#include "queues/rounds.h"

namespace synergy {

// An annotation that users set to "true" on a pod template. It declares that the training resumes
// from its checkpoint when its pods are restarted, so the training may lose its turn.
inline constexpr std::string_view kCheckpointAnnotation = "synergy.io/checkpoint";

// The annotation synergy.io/rounds of a Workload, as JSON with these members. It keeps the state of
// the workload across restarts of the controller.
struct RoundNote {
  int64_t own = 0;      // the Workload's original priority
  int64_t written = 0;  // the priority that Synergy wrote
  double served = 0;    // RoundService, in seconds and GPU-seconds
  uint32_t queue = 0;
  double queue_served = 0;
  double queue_waited = 0;
  double queue_entered = 0;
  std::optional<double> remaining;
  double fair_share_delay = 0;
  double fragmentation_delay = 0;
  uint32_t lost_turns = 0;
  std::optional<int64_t> left_at;
  WallTime at{};  // `served` counts up to this time

  bool operator==(const RoundNote&) const = default;
};
RoundService ServiceOf(const RoundNote& note);
// Returns a note with both priorities 0.
RoundNote NoteOf(const RoundService& service, WallTime at);

// The job that a Workload belongs to: its controlling owner. Empty if there is none.
struct WorkloadOwner {
  std::string api_version;  // "batch/v1"
  std::string kind;         // "Job"
  std::string name;
  std::string uid;
};

// Returns whether the TrainingProfile with this namespace and name declares that its trainings
// write checkpoints.
using ProfileCheckpoints =
    std::function<bool(const std::string& profile_namespace, const std::string& name)>;

// The state of one admission check of a Workload.
struct CheckState {
  std::string name;
  std::string state;    // "Pending", "Ready", "Retry" or "Rejected"
  std::string product;  // the GPU product in the node selector that the check adds; empty: none
  std::string message;
  WallTime since{};
};

struct Workload {
  std::string uid;
  std::string workload_namespace;
  std::string name;
  std::string resource_version;
  WorkloadOwner owner;
  std::string local_queue;
  // The pods with GPUs, which must all run, and their GPUs in total. Pods whose quota Kueue has
  // already reclaimed (reclaimablePods) do not count.
  int64_t pods = 0;
  Gpus gpus;
  int64_t priority = 0;
  bool active = true;      // not stopped by its user
  bool has_quota = false;  // condition QuotaReserved
  bool evicted = false;    // condition Evicted
  bool finished = false;   // condition Finished
  // Whether Kueue can suspend owners of this kind, and each pod template with GPUs declares that
  // its training resumes from its checkpoint (annotation synergy.io/checkpoint: "true").
  bool may_lose_turn = false;
  // The profiles of the templates without that annotation, if these profiles decide whether the
  // workload may lose its turn; otherwise empty.
  std::vector<std::string> profiles_to_ask;
  WallTime created{};
  WallTime quota_since{};          // when `has_quota` last changed
  WallTime requeue_at{};           // Kueue does not admit it earlier (status.requeueState)
  std::optional<RoundNote> note;   // nullopt also if malformed
  std::vector<CheckState> checks;  // in the order of status.admissionChecks
  // The names of its pod sets with GPUs.
  std::vector<std::string> gpu_sets;
  // Three values of the first of these pod sets: its profile (label synergy.io/profile), the key
  // that pods of the same workload share (admission/workload.h), and the GPUs of a pod.
  std::string profile;
  std::string alike;
  Gpus pod_gpus;
  // The GPU products that all pod templates with GPUs allow (label synergy.io/gpu-product);
  // nullopt: any.
  std::optional<std::vector<std::string>> products;
  // The node selectors and required node affinities of these templates, one entry for each template
  // that has any. Tolerations are omitted.
  std::vector<NodeSelection> selections;
  // The earliest deadline of these templates (annotation synergy.io/deadline); nullopt: none.
  std::optional<WallTime> deadline;
  // The longest time for which it runs once it has quota again, by Kueue's maximum execution time;
  // nullopt: no limit.
  std::optional<Duration> longest;
  // Whether Kueue has tried to admit its present spec, in vain.
  bool inadmissible = false;
  // The Key() of the workload slice that it replaces once it is admitted; empty: none.
  std::string replaces;
  // The first workload of its chain of slices, which is the one that the pods of all slices name;
  // empty: itself.
  std::string slice;

  std::string Key() const { return workload_namespace + "/" + name; }
  // Returns the key of its pods: QueuedPod::WorkloadKey() of each.
  std::string PodsKey() const { return workload_namespace + "/" + (slice.empty() ? name : slice); }
  // Returns the time since which its pods may run, because it has quota and all its admission
  // checks are ready; nullopt if they may not.
  std::optional<WallTime> AdmittedAt() const;
  // Returns whether all `profiles_to_ask` declare checkpoints; `may_lose_turn` if there are none.
  bool MayLoseTurn(const ProfileCheckpoints& checkpoints) const;
  // Returns the priority that it would have without Synergy. A priority that Synergy did not write
  // is the workload's own.
  int64_t OwnPriority() const { return note && note->written == priority ? note->own : priority; }
};

struct ClusterQueue {
  std::string name;
  std::string cohort;                // empty: none
  Gpus quota;                        // nominal, for all flavors together
  std::optional<Gpus> borrowing;     // borrowingLimit; nullopt: none
  std::optional<Gpus> lending;       // lendingLimit; nullopt: none
  std::vector<std::string> flavors;  // the flavors that have GPUs
  std::vector<std::string> checks;   // its admission checks
  std::string preemption;            // withinClusterQueue; empty: Never
  bool by_usage = false;             // admissionScope: it orders by usage, not by priority

  const std::string& Key() const { return name; }
  // Returns whether a workload of the queue may be suspended for another one.
  bool TakesTurns() const { return preemption == "LowerPriority"; }
};

struct LocalQueue {
  std::string queue_namespace;
  std::string name;
  std::string cluster_queue;
  bool stopped = false;  // stopPolicy: none of its workloads is admitted

  std::string Key() const { return queue_namespace + "/" + name; }
};

struct ResourceFlavor {
  std::string name;
  std::string topology;
  std::string product;  // the node label nvidia.com/gpu.product

  const std::string& Key() const { return name; }
};

struct AdmissionCheck {
  std::string name;
  std::string uid;
  std::string controller;
  bool active = false;  // condition Active

  const std::string& Key() const { return name; }
};

struct Cohort {
  std::string name;
  std::string parent;
  std::map<std::string, Gpus> quotas = {};  // its own GPUs, by flavor

  const std::string& Key() const { return name; }
};

// A pod of a Workload.
struct QueuedPod {
  std::string uid;
  std::string pod_namespace;
  std::string name;
  std::string workload;  // the Workload's name, or that of its chain of slices; empty: unknown
  bool has_gpus = false;
  Gpus gpus;
  bool has_node = false;
  std::string node;      // its name
  bool running = false;  // running and not being deleted
  WallTime since{};      // when the last of its containers started

  const std::string& Key() const { return uid; }
  std::string WorkloadKey() const { return pod_namespace + "/" + workload; }
};

// spec.controllerName of the admission checks of multi-cluster queues.
inline constexpr std::string_view kMultiKueue = "kueue.x-k8s.io/multikueue";

// The admission check through which a job waits for its GPU type and receives the type
// (docs/internals/gavel.md):
//
//   Pending   the job waits for its turn on a type
//   Ready     the job starts on the type in the check's node selector, or on any type without one
//   Retry     Kueue evicts the job, which comes back as Pending after a second

// spec.controllerName of Synergy's own AdmissionChecks.
inline constexpr std::string_view kTypeCheckController = "synergy.io/rounds";

// The node label with which the check's node selector selects the type.
inline constexpr std::string_view kGpuProductLabel = "nvidia.com/gpu.product";

// The name of the check in the chart.
inline constexpr std::string_view kTypeCheckName = "synergy-rounds";

// Returns whether the workload has its quota and waits for this check.
bool IsHeldBy(const Workload& workload, const CheckState& check);

enum class CheckPhase : uint8_t { kPending, kReady, kRetry };
std::string_view ToString(CheckPhase phase);  // as Kueue spells it

struct CheckAnswer {
  CheckPhase phase = CheckPhase::kReady;
  std::string product;  // of kReady: the node label nvidia.com/gpu.product; empty: any type
  std::string message;  // for people
  WallTime at{};

  bool operator==(const CheckAnswer&) const = default;
};

// A Job (batch/v1) or a TrainJob (trainer.kubeflow.org/v1alpha1) in one of Kueue's queues: how many
// workers a Job has and may have (docs/internals/optimus.md), and the progress in a TrainJob's
// status.

// A training's last report about itself (status.trainerStatus of its TrainJob, since Kubeflow
// Trainer 2.3). The report is not trusted, because every user who may run pods in the namespace can
// send one.
struct TrainerStatus {
  std::optional<Seconds> remaining;
  std::optional<int64_t> percent;  // done, 0 to 100
  WallTime at{};                   // on the training's own clock

  bool operator==(const TrainerStatus&) const = default;
};

struct QueuedJob {
  std::string uid;
  std::string job_namespace;
  std::string name;
  std::string resource_version;
  int64_t workers = 1;                          // of a Job: spec.parallelism
  int64_t succeeded = 0;                        // number of its finished pods
  std::optional<TrainerStatus> trainer_status;  // of a TrainJob; nullopt also if malformed
  // `least` and `most` are 0 if the job does not request to be elastic, or has a problem.
  int64_t least = 0;
  int64_t most = 0;
  std::optional<double> target_loss;
  // Why the job is not elastic although it requests to be: names the field and the cure. Empty if
  // there is no problem.
  std::string problem;

  std::string Key() const { return job_namespace + "/" + name; }
  bool IsElastic() const { return least > 0; }
};

}  // namespace synergy
