#pragma once

// One object of each kind, from a parsed document. What cannot be read is recorded in `fields`.
// Private to this folder.
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
// Of a pod that is not read: what it takes from which node, and no more. Nothing of it is changed,
// it is of no gang, and no place is sought for it.
Pod AccountedOnly(Pod pod);
Node ReadNodeObject(FieldReader& fields, Value object, std::string_view gpu_resource);
Namespace ReadNamespaceObject(FieldReader& fields, Value object);
// What is wrong with the profile is in its own problems: whoever wrote it has to be told.
ProfileObject ReadProfileObject(Value object);

// What a pod takes from its node, by kube-scheduler's formula.
Resources ReadPodRequests(FieldReader& fields, Value spec, Value status, PodUse use,
                          std::string_view gpu_resource);

// What its init containers need beside what its containers but that one ask for (CPU and memory).
ResourceVector ReadInitPeak(FieldReader& fields, Value spec, Value status, PodUse use,
                            std::string_view container);

// What the annotations, the spec and the status say of a pod that Synergy may change; null for
// others. `claims` are null where none is believed.
std::shared_ptr<const Fungible> ReadFungible(FieldReader& fields, Value metadata, Value spec,
                                             Value status, PodUse use, const ClaimRules* claims,
                                             std::string_view gpu_resource);
// `placed_by_us`: where it may go is of use, and why it waits.
std::shared_ptr<const Waiting> ReadWaiting(FieldReader& fields, Value metadata, Value spec,
                                           Value status, const ClaimRules* claims,
                                           bool placed_by_us);
// Whether Synergy manages the pod (cluster/claims.h).
bool IsManaged(const Resources& requests, Value spec, const ClaimRules& rules);
// When Synergy wrote the annotation, as the API server has noted it; none where others did, or
// where it is not there. Writes by a subresource do not count: what a resize says of annotations is
// noted, and never done.
std::optional<WallTime> WrittenBySynergy(Value metadata, std::string_view annotation);
// Until when what this annotation claims counts; none where it does not.
std::optional<WallTime> ClaimedUntil(Value metadata, std::string_view annotation,
                                     const ClaimRules& rules);
// The CPU and memory of a container's `resources`.
WrittenAmounts ReadAmountsOf(FieldReader& fields, Value resources);
// The `resources` that the container had before anybody of us touched it, from its annotation; none
// where it does not ask for exactly what another annotation calls its floor: then it was not us.
std::optional<Document> ReadOriginal(Value annotations, Value resources);
// The containers beside the one of that name, and what is added for the pod.
struct Beside {
  ResourceVector requests;
  bool guaranteed = true;  // all have limits that are their requests
};
Beside ReadBeside(FieldReader& fields, Value spec, std::string_view container);
// What of `written` is no LimitRange's default.
WrittenAmounts WithoutDefaults(FieldReader& fields, Value annotations, WrittenAmounts written,
                               std::string_view container);
// What the author of a pod that is being created wrote.
WrittenAmounts ReadWrittenAmounts(FieldReader& fields, Value annotations, Value resources,
                                  std::string_view container);
NodeSelection ReadNodeSelection(FieldReader& fields, Value spec);
// A missing selector selects nothing, and neither does one that cannot be read: so kube-scheduler
// has it.
LabelSelector ReadLabelSelector(FieldReader& fields, Value selector);
// By what the pod keeps off others of its namespace; null: by nothing. Antiaffinity to pods of
// namespaces that are chosen by their labels is left out.
std::shared_ptr<const Separation> ReadSeparation(FieldReader& fields, Value spec, const Pod& pod);

std::optional<Status> ReadStatusObject(Value object);
Error ToError(const Status& status);

}  // namespace synergy::wire
