#pragma once

// Jobs and TrainJobs in Kueue's queues (queues/queued_job.h) as text: the annotations of an elastic
// Job (docs/optimus.md), and the one thing that is written there, another number of its workers.
//
// Threading: pure. Read by ObjectReader (objects.h).

#include <cstdint>
#include <string>
#include <string_view>

#include "queues/queued_job.h"

namespace synergy::wire {

// Annotations of an elastic job, its author's: the fewest and the most workers that it may run
// with.
inline constexpr std::string_view kMinWorkersAnnotation = "synergy.io/min-workers";
inline constexpr std::string_view kMaxWorkersAnnotation = "synergy.io/max-workers";
// The loss at which it is done; without it goes by the iterations that it counts to.
inline constexpr std::string_view kTargetLossAnnotation = "synergy.io/target-loss";
// Kueue's own, by which it starts a Job with fewer pods; it refuses other changes of those.
inline constexpr std::string_view kPartialAdmissionAnnotation =
    "kueue.x-k8s.io/job-min-parallelism";

// Body of PATCH jobs/{name} as application/merge-patch+json: suspends the job
// and gives it so many workers, all at once, so that no new pod meets an old one; Kueue starts it
// again. Refused (409) when the job has changed in any way since it was read.
std::string WriteWorkers(const QueuedJob& job, int64_t workers);

}  // namespace synergy::wire
