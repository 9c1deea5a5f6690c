#pragma once

// Pre-runs as text (engine/retries/prerun.h): the annotations that request them, and the parts of
// Kueue's Workloads and local queues that they depend on. Also the trial, which is a Job that only
// the controller creates.
//
// Threading: pure. ObjectReader reads lists and watches of PrerunWorkload, PrerunQueue and
// PrerunTrial.

#include <optional>
#include <string>
#include <string_view>

#include "core/clock.h"
#include "core/result.h"
#include "engine/retries/prerun_objects.h"

namespace synergy::wire {

// An annotation of Jobs and LocalQueues: how long a trial may run ("5m"), or "off".
inline constexpr std::string_view kPrerunAnnotation = "synergy.io/prerun";
// An annotation of LocalQueues: the local queue of the same namespace in which trials of its jobs
// run.
inline constexpr std::string_view kTrialQueueAnnotation = "synergy.io/prerun-queue";
// An annotation of LocalQueues for trials: the resource that a trial requests for a GPU.
inline constexpr std::string_view kTrialResourceAnnotation = "synergy.io/prerun-resource";
// A label of trials: the UID of the Job of which they are copies. An admission policy lets only the
// controller write it.
inline constexpr std::string_view kTrialLabel = "synergy.io/prerun-of";
// Annotations of Workloads, which the controller writes: the UIDs of the trial that the Workload
// had, and of the trial because of which the Workload was stopped.
inline constexpr std::string_view kTrialNote = "synergy.io/prerun-trial";
inline constexpr std::string_view kPrerunStopNote = "synergy.io/prerun-stopped";
// An environment variable of each container of a trial, with the value 1.
inline constexpr std::string_view kPrerunVariable = "SYNERGY_PRERUN";
// The number of bytes to read of these annotations; the rest is ignored.
inline constexpr size_t kLongestPrerunText = 256;

// The parts of a waiting Job on which its trial depends.
struct PrerunJob {
  std::string uid;
  std::optional<std::string> prerun;  // kPrerunAnnotation
  bool independent_completions = false;
  std::string problem;  // why it cannot have a trial; empty: it can
};
Result<PrerunJob> ReadPrerunJob(std::string_view text, std::string_view gpu_resource);

struct TrialRequest {
  std::string queue;     // the local queue
  std::string resource;  // the resource to request for a GPU
  Duration limit{};      // Kueue's maximum execution time
  // A PriorityClass whose pods evict no other pods; without one, a trial would get the cluster's
  // default class, with which its pod might evict others.
  std::string priority_class;
};
// Returns the same name in each call for a Job, so that it has at most one trial at a time.
std::string TrialName(std::string_view job_uid);
// Returns a trial of the Job with this text, for a POST: one pod that requests one GPU instead of
// any number, and is not restarted. The Job owns the trial, so that both are deleted together, but
// does not control it, so that Kueue treats the trial as a separate job. Returns kInvalid if the
// text is not a Job.
Result<std::string> WriteTrial(std::string_view job_text, const TrialRequest& request,
                               std::string_view gpu_resource);

// Returns the body of the DELETE, which fails if another Job has that name by now.
std::string WriteTrialDeletion(const PrerunTrial& trial);
// Return merge patches of the Workload. The first notes its trial, and the second stops it because
// of that trial. Both cause a conflict if the Workload has changed since it was read.
std::string WriteTrialNote(const PrerunWorkload& workload, std::string_view trial_uid);
std::string WritePrerunStop(const PrerunWorkload& workload, std::string_view trial_uid);

}  // namespace synergy::wire
