#pragma once

// Readers of one object of each kind, from a parsed document. They record unreadable parts in
// `fields`. Private to this folder.
//
// Threading: pure.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cluster/claims.h"
#include "cluster/disruption_budget.h"
#include "cluster/namespace.h"
#include "cluster/node.h"
#include "cluster/node_selection.h"
#include "cluster/pod.h"
#include "profile/profile_object.h"
#include "wire/base/json_words.h"
#include "wire/objects/objects.h"

namespace synergy::wire {

Pod ReadPodObject(FieldReader& fields, Value object, PodUse use, const PodRules& rules);
// Reduces a pod that could not be read completely to its node and the amounts that it takes there.
// Such a pod is never changed, belongs to no gang, and gets no place.
Pod AccountedOnly(Pod pod);
Node ReadNodeObject(FieldReader& fields, Value object, std::string_view gpu_resource);
Namespace ReadNamespaceObject(FieldReader& fields, Value object);
// Puts problems of the profile into its own `problems`, because its author needs to see them.
// Problems of status.packing, which only the controller writes, go to `fields`.
ProfileObject ReadProfileObject(FieldReader& fields, Value object);

// Returns the requests that count against the pod's node, by kube-scheduler's formula.
Resources ReadPodRequests(FieldReader& fields, Value spec, Value status, PodUse use,
                          std::string_view gpu_resource);

// Returns the CPU and memory that the pod's init containers need beyond the requests of all
// containers except `container`.
ResourceVector ReadInitPeak(FieldReader& fields, Value spec, Value status, PodUse use,
                            std::string_view container);

// Reads the annotations, spec and status of a pod that Synergy may change; returns null for others.
// Without `claims`, no claim is trusted.
std::shared_ptr<const ManagedContainer> ReadManagedContainer(FieldReader& fields, Value metadata,
                                                             Value spec, Value status, PodUse use,
                                                             const ClaimRules* claims,
                                                             std::string_view gpu_resource);
// `placed_by_us`: whether Synergy places the pod; if so, also reads its conditions on nodes and the
// reason for its wait.
std::shared_ptr<const Waiting> ReadWaiting(FieldReader& fields, Value metadata, Value spec,
                                           Value status, const ClaimRules* claims,
                                           bool placed_by_us);
// Returns the ResourceClaims that the pod names; null if there are none.
std::shared_ptr<const PodDevices> ReadPodDevices(FieldReader& fields, Value spec, Value status);
// Returns how long a pod with this spec runs at most (PodTimes::longest).
std::optional<Duration> ReadLongestRun(FieldReader& fields, Value spec);
// Returns whether Synergy manages the pod if it has GPUs (cluster/claims.h).
bool IsManaged(Value spec, const ClaimRules& rules);
// Returns when Synergy wrote the annotation, as the API server recorded it. Returns nullopt if the
// annotation is absent or another client wrote it. Writes to a subresource do not count, because
// the API server records the annotations of a resize but does not apply them.
std::optional<WallTime> WrittenBySynergy(Value metadata, std::string_view annotation);
// Returns whether a node agent wrote the annotation, according to the API server's record.
bool WrittenByNodeAgent(Value metadata, std::string_view annotation);
// Returns the time until which the claim in this annotation is valid; nullopt if the claim is not
// valid.
std::optional<WallTime> ClaimedUntil(Value metadata, std::string_view annotation,
                                     const ClaimRules& rules);
// Returns the CPU and memory of a container's `resources`.
WrittenAmounts ReadAmountsOf(FieldReader& fields, Value resources);
// Returns the `resources` that the container had before Synergy changed it, from its annotation.
// Returns nullopt if the container's requests differ from the floor annotation, because then
// Synergy did not write them.
std::optional<Document> ReadOriginal(Value annotations, Value resources);
// The containers except the named one, and the pod's overhead.
struct Beside {
  ResourceVector requests;
  bool guaranteed = true;  // all have limits that equal their requests
};
Beside ReadBeside(FieldReader& fields, Value spec, std::string_view container);
// Removes the defaults of a LimitRange from `written`.
WrittenAmounts WithoutDefaults(FieldReader& fields, Value annotations, WrittenAmounts written,
                               std::string_view container);
// Returns the amounts that the author of a pod under creation wrote.
WrittenAmounts ReadWrittenAmounts(FieldReader& fields, Value annotations, Value resources,
                                  std::string_view container);
NodeSelection ReadNodeSelection(FieldReader& fields, Value spec);
// A missing or unreadable selector selects nothing, as in kube-scheduler.
LabelSelector ReadLabelSelector(FieldReader& fields, Value selector);
// Returns the rules that keep the pod apart from others in its namespace; null if there are none.
// Ignores anti-affinity to pods in namespaces that are selected by labels.
std::shared_ptr<const Separation> ReadSeparation(FieldReader& fields, Value spec, const Pod& pod);

std::optional<Status> ReadStatusObject(Value object);
Error ToError(const Status& status);

}  // namespace synergy::wire
