#pragma once

// Jobs and TrainJobs in Kueue's queues (queues/kueue.h) as text: the annotations of an elastic Job
// (docs/internals/optimus.md), and the only field that is written, the number of workers.
//
// Threading: pure. ObjectReader reads them (objects.h).

#include <cstdint>
#include <string>
#include <string_view>

#include "queues/kueue.h"

namespace synergy::wire {

// Annotations that the author of an elastic job sets: the fewest and the most workers with which it
// may run.
inline constexpr std::string_view kMinWorkersAnnotation = "synergy.io/min-workers";
inline constexpr std::string_view kMaxWorkersAnnotation = "synergy.io/max-workers";
// The loss at which the job is done. Without it, the job ends after its total number of iterations.
inline constexpr std::string_view kTargetLossAnnotation = "synergy.io/target-loss";
// Kueue's own annotation for starting a Job with fewer pods. Kueue refuses other changes of their
// number.
inline constexpr std::string_view kPartialAdmissionAnnotation =
    "kueue.x-k8s.io/job-min-parallelism";

// Returns the body of PATCH jobs/{name} as application/merge-patch+json. It suspends the job and
// sets its number of workers in one request, so that no new pod runs beside an old one. Kueue
// starts the job again. The API server refuses it (409) if the job has changed in any way since it
// was read.
std::string WriteWorkers(const QueuedJob& job, int64_t workers);

}  // namespace synergy::wire
