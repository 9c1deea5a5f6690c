#pragma once

// Kueue's objects as decisions about its queues need them (docs/queues.md). wire/kueue reads them.
//
// Threading: values; pure.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/node_selection.h"
#include "core/clock.h"
#include "core/units.h"
#include "queues/rounds.h"

namespace synergy {

// An annotation in a pod template, written by its author: if its pods are ended and started again,
// the training goes on from its checkpoint, so it may lose its turn. "true" or absent.
inline constexpr std::string_view kCheckpointAnnotation = "synergy.io/checkpoint";

// The annotation synergy.io/rounds of a Workload, JSON by its members. It outlives our process.
struct RoundNote {
  int64_t own = 0;      // the priority that the Workload had before
  int64_t written = 0;  // the one that we wrote
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
  WallTime at{};  // until when `served` counts

  bool operator==(const RoundNote&) const = default;
};
RoundService ServiceOf(const RoundNote& note);
// Of what is kept of a workload, with the priorities 0.
RoundNote NoteOf(const RoundService& service, WallTime at);

// The job that a Workload is of: its controlling owner; empty where there is none.
struct WorkloadOwner {
  std::string api_version;  // "batch/v1"
  std::string kind;         // "Job"
  std::string name;
  std::string uid;
};

// Whether the TrainingProfile of that namespace and name says that its trainings checkpoint.
using ProfileCheckpoints =
    std::function<bool(const std::string& profile_namespace, const std::string& name)>;

// What an admission check says of a Workload.
struct CheckState {
  std::string name;
  std::string state;    // "Pending", "Ready", "Retry" or "Rejected"
  std::string product;  // that it names in a node selector; empty: none
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
  // The pods that have GPUs, which all have to run, and what they have together. Pods whose place
  // Kueue has taken back already (reclaimablePods) do not count.
  int64_t pods = 0;
  Gpus gpus;
  int64_t priority = 0;
  bool active = true;      // not stopped by its user
  bool has_quota = false;  // condition QuotaReserved
  bool evicted = false;    // condition Evicted
  bool finished = false;   // condition Finished
  // Its owner is of a kind that Kueue suspends, and each pod template with GPUs says that its
  // training goes on where it was (annotation synergy.io/checkpoint: "true").
  bool may_lose_turn = false;
  // The profiles of templates that do not say so, nor the contrary. Empty where their word would
  // change nothing.
  std::vector<std::string> profiles_to_ask;
  WallTime created{};
  WallTime quota_since{};          // when `has_quota` became what it is
  WallTime requeue_at{};           // Kueue does not admit it before (status.requeueState)
  std::optional<RoundNote> note;   // none also where it makes no sense
  std::vector<CheckState> checks;  // in the order of status.admissionChecks
  // Of its pod sets with GPUs: their names; of the first its profile (label synergy.io/profile),
  // what is alike in pods that are (admission/workload.h), and the GPUs of a pod.
  std::vector<std::string> gpu_sets;
  std::string profile;
  std::string alike;
  Gpus pod_gpus;
  // GPU products that all of their templates allow by the label synergy.io/gpu-product; none: any.
  std::optional<std::vector<std::string>> products;
  // The nodes that their templates allow by node selector and required node affinity, of those that
  // have any. Without tolerations.
  std::vector<NodeSelection> selections;
  // The earliest that one of them names (annotation synergy.io/deadline); none: no matter.
  std::optional<WallTime> deadline;

  std::string Key() const { return workload_namespace + "/" + name; }
  // `may_lose_turn`, or the profiles say it.
  bool MayLoseTurn(const ProfileCheckpoints& checkpoints) const;
  // What it would be without us: what we wrote is not its own, whatever else stands there is.
  int64_t OwnPriority() const { return note && note->written == priority ? note->own : priority; }
};

struct ClusterQueue {
  std::string name;
  std::string cohort;                // empty: none
  Gpus quota;                        // nominal, of all flavors together
  std::vector<std::string> flavors;  // that have GPUs
  std::vector<std::string> checks;   // its admission checks
  std::string preemption;            // withinClusterQueue; empty: Never
  bool by_usage = false;             // admissionScope: who goes first is not told by priority

  const std::string& Key() const { return name; }
  // Else nobody is suspended for another one of the queue.
  bool TakesTurns() const { return preemption == "LowerPriority"; }
};

struct LocalQueue {
  std::string queue_namespace;
  std::string name;
  std::string cluster_queue;

  std::string Key() const { return queue_namespace + "/" + name; }
};

// A ResourceFlavor, an AdmissionCheck or a Cohort: what of them is against rounds.
struct QueuePart {
  std::string name;
  std::string topology;    // of a flavor
  std::string controller;  // of a check
  std::string parent;      // of a cohort
  std::string product;     // of a flavor: the node label nvidia.com/gpu.product
  std::string uid;
  bool active = false;  // of a check: condition Active

  const std::string& Key() const { return name; }
};

// A pod of a Workload.
struct QueuedPod {
  std::string uid;
  std::string pod_namespace;
  std::string name;
  std::string workload;  // its name; empty: not known
  bool has_gpus = false;
  bool has_node = false;
  std::string node;      // its name
  bool running = false;  // and not being deleted
  WallTime since{};      // when the last of its containers began to run

  const std::string& Key() const { return uid; }
};

// spec.controllerName of the admission checks of multi-cluster queues.
inline constexpr std::string_view kMultiKueue = "kueue.x-k8s.io/multikueue";

}  // namespace synergy
