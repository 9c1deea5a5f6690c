#pragma once

// Kueue's objects (kueue.x-k8s.io/v1beta2; queues/kueue.h) as text: the labels and annotations by
// which they are read, and the one thing that is written there: a Workload's priority, with a note
// of ours that says what it was before (docs/queues.md).
//
// Threading: values; pure. Read by ObjectReader (objects.h).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cluster/annotations.h"
#include "queues/kueue.h"

namespace synergy::wire {

// An annotation in a pod template, written by its author: when the training has to be done, in
// RFC 3339's form ("2026-11-21T07:00:00Z").
inline constexpr std::string_view kDeadlineAnnotation = "synergy.io/deadline";
// On Workloads, the controller's: RoundNote.
inline constexpr std::string_view kRoundsAnnotation = "synergy.io/rounds";
// On pods, Kueue's: the Workload that they belong to.
inline constexpr std::string_view kWorkloadAnnotation = "kueue.x-k8s.io/workload";
// The apiVersion of a Workload.
inline constexpr std::string_view kWorkloadVersion = "kueue.x-k8s.io/v1beta2";
// The label by which a job is in a LocalQueue.
inline constexpr std::string_view kQueueLabel = "kueue.x-k8s.io/queue-name";
// The label that all pods of a Workload have.
inline constexpr std::string_view kPodSetLabel = annotations::kKueuePodSet;

// Bodies of PATCH workloads/{name} as application/merge-patch+json. The API server refuses them
// (409) when the Workload has changed in any way since it was read: so what somebody else wrote
// into its priority meanwhile is not lost. Without `note` ours goes.
std::string WritePriority(const Workload& workload, int64_t priority,
                          const std::optional<RoundNote>& note);
// The note alone; the priority stays as it is.
std::string WriteNote(const Workload& workload, const RoundNote& note);

}  // namespace synergy::wire
