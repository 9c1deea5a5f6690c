#pragma once

// Pods that ended with a failure, as the API server reports them, and the records of these failures
// (docs/failures.md).
//
// Threading: values.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/gpu_amount.h"
#include "core/units.h"

namespace synergy {

// The maximum number of records kept for a namespace.
inline constexpr size_t kMostFailureRecords = 200;

// The longest texts of the types below, in bytes, so that the records fit into a ConfigMap. The
// first four are Kubernetes' own limits, which Kubernetes does not check in owner references.
inline constexpr size_t kLongestLabel = 63;            // also for containers, namespaces and kinds
inline constexpr size_t kLongestObjectName = 253;      // of pods, nodes and owners
inline constexpr size_t kLongestApiVersion = 317;      // GROUP/VERSION
inline constexpr size_t kLongestFailureReason = 1024;  // for a condition, a pod or a container
inline constexpr size_t kLongestUid = 64;
inline constexpr size_t kLongestImageId = 128;
inline constexpr size_t kLongestFailureMessage = 4096;

// The object that controls a pod or another owner; an empty kind means that none does.
struct ObjectOwner {
  std::string api_version;  // "batch/v1"
  std::string kind;
  std::string name;
  std::string uid;

  bool operator==(const ObjectOwner&) const = default;
};

struct ContainerEnd {
  std::string container;
  int32_t run = 0;  // how often the container had been restarted before
  int32_t exit_code = 0;
  std::string reason;
  std::string message;
  WallTime started{};  // not after `finished`, if that is known
  WallTime finished{};
  std::string image_id;  // the digest of the image that it ran; empty: unknown
};

// A container that has never run, and is not about to be created.
struct ContainerWait {
  std::string container;
  std::string reason;
  std::string message;
};

// The `run` of the record of a container that has never run.
inline constexpr int32_t kNeverRan = -1;

// The parts of a pod that matter to a failure.
struct EndedPod {
  std::string uid;
  std::string pod_namespace;
  std::string name;
  std::string node;
  ObjectOwner owner;
  std::string job_set;    // the JobSet that it belongs to; empty: none
  std::string queue;      // Kueue's local queue, from the pod's labels; empty: unknown
  std::string user;       // the label synergy.io/user; empty: none
  std::string rank;       // its index in its job; empty: none
  std::string container;  // the one with its GPUs, from the webhook's annotation; may be empty
  std::string workload;   // the webhook's annotation for pods of one template; may be empty
  Gpus gpus;
  Slices slices;                   // of GPUs that it shares with other pods
  int64_t slices_per_gpu = 0;      // of its node; 0: unknown
  std::optional<bool> shared_gpu;  // other pods may use the same GPU; absent: unknown
  // Synergy's scheduler placed it. Without GPUs and slices it is a job's launcher or submitter.
  bool managed = false;
  bool failed = false;  // the whole pod failed; otherwise only containers were restarted
  bool deleting = false;
  std::string reason;  // of the pod: "Evicted"
  std::string message;
  std::vector<std::string> conditions;  // "TYPE/REASON" of those that are True
  std::string condition_message;        // of DisruptionTarget
  std::vector<ContainerEnd> ends;       // containers that failed, each with its last end
  std::vector<ContainerWait> waits;     // containers that have never run, and why
  WallTime created{};
  WallTime asked_to_end{};    // when its deletion was requested; unset: never
  WallTime last_condition{};  // the last transition of a condition
  // When Synergy last changed its CPU, and its memory.
  std::optional<WallTime> cpu_changed;
  std::optional<WallTime> memory_changed;
  Bytes memory_before;        // before the change of its memory; 0: unknown
  bool limit_chosen = false;  // Synergy chose its memory limit; the author wrote none
  // The memory limit that Synergy chose or, without any limit, the request if Synergy chose more
  // than its author wrote.
  std::optional<Bytes> chosen_memory;
  Bytes fair_memory;    // the fair share if only the request was chosen; 0: a limit was chosen
  std::string profile;  // from the webhook's annotation; empty: none
};

// The texts of `category`, `cause`, `behaviour` and `advice` come from failure/category.h.
struct FailureRecord {
  WallTime at{};  // end of the run
  std::string pod;
  std::string uid;
  std::string container;
  int32_t run = 0;  // kNeverRan: not a failure; the record shows why the pod waits
  std::string node;
  ObjectOwner owner;  // the outermost owner: a JobSet, not its Job
  std::string queue;
  std::string user;  // the namespace if the pod names none
  std::string rank;
  std::string category;
  std::string cause;
  std::string behaviour;
  std::string advice;
  std::string act;  // Synergy's act, if one can have caused the failure: "evicted it"
  std::string rule;
  std::string evidence;
  std::optional<int32_t> exit_code;
  std::string reason;
  double gpu_seconds = 0;  // of this run
  // The end of the first failure in the owner's attempt: equal for all failures of one attempt.
  WallTime attempt{};
  bool leads = false;  // this failure caused the attempt's others, as far as known
  // Facts that decide whether another retry is futile (engine/retries).
  WallTime started{};                 // start of the run; unset: unknown
  std::string workload;               // of the pod
  std::string image_id;               // of the container
  std::optional<int64_t> iterations;  // shown by its log; absent: the log is unknown
  bool shared_gpu = false;            // other pods may have used the same GPU, or that is unknown
  WallTime created{};                 // creation of the pod
  // Times of the decision to suspend the job because of this failure, and of the suspension.
  WallTime to_suspend{};
  WallTime suspended{};
  // As in EndedPod; set only for a `host-oom`.
  std::optional<Bytes> chosen_memory;
  Bytes fair_memory;
  std::string profile;
  // When the process memory of its workload was raised because of this failure, and the memory that
  // the next attempt gets.
  WallTime enlarged{};
  Bytes larger;
  // From the last line that reports a checkpoint to the end; absent: there is none, or it is
  // unknown.
  std::optional<Duration> unsaved;
  // From the start of the run to its first iteration; absent: unknown.
  std::optional<Duration> startup;

  bool HasRun() const { return run != kNeverRan; }
  bool operator==(const FailureRecord&) const = default;
};

// The records of a namespace, as kept in a ConfigMap.
struct FailureHistory {
  std::string of_namespace;
  std::string resource_version;        // of the ConfigMap; empty: there is none yet
  std::vector<FailureRecord> records;  // by time
};

}  // namespace synergy
