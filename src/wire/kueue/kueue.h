#pragma once

// Kueue's objects (kueue.x-k8s.io/v1beta2; queues/kueue.h) as text, with the labels and annotations
// that are read. Only a Workload's priority is written, with a note about its previous value
// (docs/queues.md).
//
// Threading: values; pure. ObjectReader reads them (objects.h).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cluster/annotations.h"
#include "queues/kueue.h"

namespace synergy::wire {

// Set in a pod template by its author: the job's deadline, in RFC 3339 ("2026-11-21T07:00:00Z").
inline constexpr std::string_view kDeadlineAnnotation = "synergy.io/deadline";
// Set on Workloads by the controller: RoundNote.
inline constexpr std::string_view kRoundsAnnotation = "synergy.io/rounds";
// Set on pods by Kueue: the Workload to which they belong.
inline constexpr std::string_view kWorkloadAnnotation = "kueue.x-k8s.io/workload";
// Set by Kueue on the slices of an elastic job's Workload: the Key() of the slice that this one
// replaces; and on slices and their pods: the first slice of the chain.
inline constexpr std::string_view kReplacesAnnotation =
    "kueue.x-k8s.io/workload-slice-replacement-for";
inline constexpr std::string_view kSliceAnnotation = "kueue.x-k8s.io/workload-slice-name";
// The apiVersion of a Workload.
inline constexpr std::string_view kWorkloadVersion = "kueue.x-k8s.io/v1beta2";
// The label that puts a job into a LocalQueue.
inline constexpr std::string_view kQueueLabel = "kueue.x-k8s.io/queue-name";
// The label that all pods of a Workload have.
inline constexpr std::string_view kPodSetLabel = annotations::kKueuePodSet;

// Return bodies of PATCH workloads/{name} as application/merge-patch+json. The API server refuses
// them (409) if the Workload has changed in any way since it was read. So no priority that another
// client wrote meanwhile is lost. Without `note`, the patch removes Synergy's note.
std::string WritePriority(const Workload& workload, int64_t priority,
                          const std::optional<RoundNote>& note);
// Writes only the note; the priority stays as it is.
std::string WriteNote(const Workload& workload, const RoundNote& note);

}  // namespace synergy::wire
