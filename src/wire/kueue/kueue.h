#pragma once

// Kueue's objects (kueue.x-k8s.io/v1beta2; queues/kueue.h) as text: the labels and annotations by
// which they are read, and the one thing that is written to them: a Workload's priority, with a
// note of ours about its previous value (docs/queues.md).
//
// Threading: values; pure. Read by ObjectReader (objects.h).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cluster/annotations.h"
#include "queues/kueue.h"

namespace synergy::wire {

// In a pod template, set by its author: the deadline of the job, in RFC 3339
// ("2026-11-21T07:00:00Z").
inline constexpr std::string_view kDeadlineAnnotation = "synergy.io/deadline";
// On Workloads, set by the controller: RoundNote.
inline constexpr std::string_view kRoundsAnnotation = "synergy.io/rounds";
// On pods, set by Kueue: the Workload that they belong to.
inline constexpr std::string_view kWorkloadAnnotation = "kueue.x-k8s.io/workload";
// The apiVersion of a Workload.
inline constexpr std::string_view kWorkloadVersion = "kueue.x-k8s.io/v1beta2";
// The label that puts a job into a LocalQueue.
inline constexpr std::string_view kQueueLabel = "kueue.x-k8s.io/queue-name";
// The label that all pods of a Workload have.
inline constexpr std::string_view kPodSetLabel = annotations::kKueuePodSet;

// Bodies of PATCH workloads/{name} as application/merge-patch+json. The API server refuses them
// (409) if the Workload has changed in any way since it was read, so that a priority written by
// another client in the meantime is not lost. Without `note`, the patch removes ours.
std::string WritePriority(const Workload& workload, int64_t priority,
                          const std::optional<RoundNote>& note);
// Writes only the note; the priority stays as it is.
std::string WriteNote(const Workload& workload, const RoundNote& note);

}  // namespace synergy::wire
