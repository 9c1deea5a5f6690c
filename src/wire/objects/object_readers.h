#pragma once

// Readers of one object of each kind, from a parsed document. They record in `fields` what cannot
// be read. Private to this folder.
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
// Reduces a pod that could not be read fully to its node and what it takes there. Such a pod is
// never changed, belongs to no gang, and gets no place.
Pod AccountedOnly(Pod pod);
Node ReadNodeObject(FieldReader& fields, Value object, std::string_view gpu_resource);
Namespace ReadNamespaceObject(FieldReader& fields, Value object);
// Problems of the profile are in its own `problems`, because its author needs to see them.
ProfileObject ReadProfileObject(Value object);

// The requests that count against the pod's node, by kube-scheduler's formula.
Resources ReadPodRequests(FieldReader& fields, Value spec, Value status, PodUse use,
                          std::string_view gpu_resource);

// The CPU and memory that its init containers need beyond the requests of all containers except
// `container`.
ResourceVector ReadInitPeak(FieldReader& fields, Value spec, Value status, PodUse use,
                            std::string_view container);

// Reads the annotations, spec and status of a pod that Synergy may change; null for others. Without
// `claims`, no claim is trusted.
std::shared_ptr<const ManagedContainer> ReadManagedContainer(FieldReader& fields, Value metadata,
                                                             Value spec, Value status, PodUse use,
                                                             const ClaimRules* claims,
                                                             std::string_view gpu_resource);
// `placed_by_us`: also read where the pod may go and why it waits.
std::shared_ptr<const Waiting> ReadWaiting(FieldReader& fields, Value metadata, Value spec,
                                           Value status, const ClaimRules* claims,
                                           bool placed_by_us);
// The ResourceClaims that the pod names; null: none.
std::shared_ptr<const PodDevices> ReadPodDevices(FieldReader& fields, Value spec, Value status);
// How long a pod with this spec runs at most (PodTimes::longest).
std::optional<Duration> ReadLongestRun(FieldReader& fields, Value spec);
// Whether Synergy manages the pod if it has GPUs (cluster/claims.h).
bool IsManaged(Value spec, const ClaimRules& rules);
// When Synergy wrote the annotation, as the API server recorded it. None if the annotation is
// absent or another client wrote it. Writes to a subresource do not count: the API server records
// the annotations of a resize, but does not apply them.
std::optional<WallTime> WrittenBySynergy(Value metadata, std::string_view annotation);
// Returns until when the claim in this annotation counts; none if it does not.
std::optional<WallTime> ClaimedUntil(Value metadata, std::string_view annotation,
                                     const ClaimRules& rules);
// The CPU and memory of a container's `resources`.
WrittenAmounts ReadAmountsOf(FieldReader& fields, Value resources);
// The `resources` that the container had before Synergy changed it, from its annotation. None if
// the container's requests differ from the floor annotation: then Synergy did not write them.
std::optional<Document> ReadOriginal(Value annotations, Value resources);
// The containers except the named one, and the pod's overhead.
struct Beside {
  ResourceVector requests;
  bool guaranteed = true;  // all have limits equal to their requests
};
Beside ReadBeside(FieldReader& fields, Value spec, std::string_view container);
// Removes the defaults of a LimitRange from `written`.
WrittenAmounts WithoutDefaults(FieldReader& fields, Value annotations, WrittenAmounts written,
                               std::string_view container);
// The amounts that the author of a pod under creation wrote.
WrittenAmounts ReadWrittenAmounts(FieldReader& fields, Value annotations, Value resources,
                                  std::string_view container);
NodeSelection ReadNodeSelection(FieldReader& fields, Value spec);
// A missing selector selects nothing, and neither does one that cannot be read, as in
// kube-scheduler.
LabelSelector ReadLabelSelector(FieldReader& fields, Value selector);
// The rules that keep the pod apart from others of its namespace; null: none. Ignores anti-affinity
// to pods of namespaces that are selected by labels.
std::shared_ptr<const Separation> ReadSeparation(FieldReader& fields, Value spec, const Pod& pod);

std::optional<Status> ReadStatusObject(Value object);
Error ToError(const Status& status);

}  // namespace synergy::wire
