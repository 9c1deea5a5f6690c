#pragma once

// The objects by which a job's retries are stopped: a Job, a JobSet, or the Workload of Kueue that
// stands for a job of any kind. Their pods end, and nothing is deleted; a user can start the job
// again.
//
//   Job, JobSet   spec.suspend: true
//   Workload      spec.active: false, so that Kueue suspends the job and gives back its quota
//
// Threading: pure.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/pod_failure.h"
#include "core/result.h"

namespace synergy::wire {

// An annotation of Jobs, JobSets, LocalQueues and Namespaces: what may be done about retries
// (engine/retries).
inline constexpr std::string_view kRetriesAnnotation = "synergy.io/retries";
// An annotation of objects that Synergy stopped: for which decision. It outlives our process.
inline constexpr std::string_view kStoppedAnnotation = "synergy.io/retries-stopped";
// Longest value of kRetriesAnnotation that is read, in bytes; the rest is ignored.
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
  ObjectOwner owner;                     // that controls it; without a kind: none does
  std::optional<std::string> retries;    // kRetriesAnnotation
  std::string stopped_for;               // kStoppedAnnotation
  bool stopped = false;                  // suspended, or not active
  bool finished = false;                 // completed, or failed for good
  bool independent_completions = false;  // of a Job: an array, whose pods train apart
};

// Reads a single object of that kind. kInvalid if it is no JSON object.
Result<StoppableJob> ReadStoppableJob(std::string_view text, std::string_view kind);
// Reads a list of Workloads.
Result<std::vector<StoppableJob>> ReadStoppableWorkloads(std::string_view text);
// Reads kRetriesAnnotation of any object.
Result<std::optional<std::string>> ReadRetriesAnnotation(std::string_view text);

// The merge patch that stops the object and writes `decision` into kStoppedAnnotation; a conflict
// if the object has changed since it was read.
std::string WriteStop(const StoppableJob& job, std::string_view decision);
// The same members as a user writes them to start the job again: {"spec":{"suspend":false}}.
std::string WriteResume(std::string_view kind);

}  // namespace synergy::wire
