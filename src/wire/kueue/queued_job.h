#pragma once

// Jobs and TrainJobs in Kueue's queues (queues/kueue.h) as text: the annotations of an elastic
// Job (docs/internals/optimus.md), and the one thing that is written to it: its number of workers.
//
// Threading: pure. Read by ObjectReader (objects.h).

#include <cstdint>
#include <string>
#include <string_view>

#include "queues/kueue.h"

namespace synergy::wire {

// Annotations of an elastic job, set by its author: the fewest and the most workers that it may run
// with.
inline constexpr std::string_view kMinWorkersAnnotation = "synergy.io/min-workers";
inline constexpr std::string_view kMaxWorkersAnnotation = "synergy.io/max-workers";
// The loss at which the job is done. Without it, the job ends after its total of iterations.
inline constexpr std::string_view kTargetLossAnnotation = "synergy.io/target-loss";
// Kueue's own annotation, by which it starts a Job with fewer pods. It refuses other changes of
// their number.
inline constexpr std::string_view kPartialAdmissionAnnotation =
    "kueue.x-k8s.io/job-min-parallelism";

// Body of PATCH jobs/{name} as application/merge-patch+json: suspends the job and sets its number
// of workers in one request, so that no new pod meets an old one. Kueue starts it again. Refused
// (409) if the job has changed in any way since it was read.
std::string WriteWorkers(const QueuedJob& job, int64_t workers);

}  // namespace synergy::wire
