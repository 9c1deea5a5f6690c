#pragma once

// One object of each kind, from a parsed document. What cannot be read is recorded in `fields`.
// Private to this folder.
//
// Threading: pure.

#include <memory>
#include <string>
#include <string_view>

#include "cluster/disruption_budget.h"
#include "cluster/namespace.h"
#include "cluster/node.h"
#include "cluster/node_selection.h"
#include "cluster/pod.h"
#include "json/document.h"
#include "json/field_reader.h"
#include "json/objects.h"
#include "profile/profile_object.h"

namespace synergy::json {

Pod ReadPodObject(FieldReader& fields, Value object, PodUse use, std::string_view gpu_resource);
Node ReadNodeObject(FieldReader& fields, Value object, std::string_view gpu_resource);
DisruptionBudget ReadDisruptionBudgetObject(FieldReader& fields, Value object);
ResizeStatus ReadResizeStatusObject(FieldReader& fields, Value object);
PodEvent ReadPodEventObject(FieldReader& fields, Value object);
Namespace ReadNamespaceObject(FieldReader& fields, Value object);
// What is wrong with the profile is in its own problems: whoever wrote it has to be told.
ProfileObject ReadProfileObject(Value object);

// What a pod takes from its node, by kube-scheduler's formula.
Resources ReadPodRequests(FieldReader& fields, Value spec, Value status, PodUse use,
                          std::string_view gpu_resource);

// What the annotations, the spec and the status say of a pod that Synergy may change; null for
// others.
std::shared_ptr<const Fungible> ReadFungible(FieldReader& fields, Value metadata, Value spec,
                                             Value status, PodUse use,
                                             std::string_view gpu_resource);
std::shared_ptr<const Waiting> ReadWaiting(FieldReader& fields, Value annotations, Value spec,
                                           Value status);
NodeSelection ReadNodeSelection(FieldReader& fields, Value spec);

// metadata's parts that all kinds share.
std::string ReadText(FieldReader& fields, Value value);
Labels ReadLabels(FieldReader& fields, Value object);
bool ReadDeleting(FieldReader& fields, Value metadata);

std::optional<Status> ReadStatusObject(Value object);
Error ToError(const Status& status);

}  // namespace synergy::json
