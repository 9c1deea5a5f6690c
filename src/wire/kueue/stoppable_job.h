#pragma once

// The objects through which a job's retries are stopped: a Job, a JobSet, or the Workload of Kueue
// that represents a job of any kind. Their pods end, and nothing is deleted; a user can start the
// job again.
//
//   Job, JobSet   spec.suspend: true
//   Workload      spec.active: false, so that Kueue suspends the job and releases its quota
//
// Threading: pure.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/pod_failure.h"
#include "core/result.h"

namespace synergy::wire {

// An annotation of Jobs, JobSets, LocalQueues and Namespaces that states how Synergy may handle
// retries (engine/retries).
inline constexpr std::string_view kRetriesAnnotation = "synergy.io/retries";
// An annotation of objects that Synergy stopped, which names the decision. It outlives the
// controller's process.
inline constexpr std::string_view kStoppedAnnotation = "synergy.io/retries-stopped";
// The number of bytes to read of kRetriesAnnotation; the rest is ignored.
inline constexpr size_t kLongestRetries = 256;

inline constexpr std::string_view kWorkloadKind = "Workload";
// A label of Workloads: the UID of their job.
inline constexpr std::string_view kJobUidLabel = "kueue.x-k8s.io/job-uid";

struct StoppableJob {
  std::string kind;  // "Job", "JobSet", "Workload"
  std::string job_namespace;
  std::string name;
  std::string uid;
  std::string resource_version;
  ObjectOwner owner;                     // the controlling owner; no kind: there is none
  std::optional<std::string> retries;    // kRetriesAnnotation
  std::string stopped_for;               // kStoppedAnnotation
  bool stopped = false;                  // suspended, or not active
  bool finished = false;                 // completed, or failed permanently
  bool independent_completions = false;  // of a Job: an array, whose pods train independently
};

// Reads a single object of that kind; kInvalid if it is not a JSON object.
Result<StoppableJob> ReadStoppableJob(std::string_view text, std::string_view kind);
// Reads a list of Workloads.
Result<std::vector<StoppableJob>> ReadStoppableWorkloads(std::string_view text);
// Reads kRetriesAnnotation of any object.
Result<std::optional<std::string>> ReadRetriesAnnotation(std::string_view text);

// Returns the merge patch that stops the object and writes `decision` into kStoppedAnnotation; it
// causes a conflict if the object has changed since it was read.
std::string WriteStop(const StoppableJob& job, std::string_view decision);
// Returns the merge patch with which a user starts the job again, for a Job
// {"spec":{"suspend":false}}.
std::string WriteResume(std::string_view kind);

}  // namespace synergy::wire
