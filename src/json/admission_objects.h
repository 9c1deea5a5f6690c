#pragma once

// The parts of admission that speak JSON: what a pod says before it is created, and what is to be
// changed of it. Private to this folder.
//
// Threading: pure.

#include <string>
#include <string_view>

#include "admission/admission.h"
#include "admission/pod_facts.h"
#include "json/document.h"
#include "json/field_reader.h"
#include "json/json_patch.h"

namespace synergy::json {

// `pod_namespace`: where the pod is being created; a pod's own word for it may be missing.
admission::PodFacts ReadPodFacts(FieldReader& fields, Value pod, std::string pod_namespace,
                                 std::string_view gpu_resource);

// For kManaged.
void SetFigures(JsonPatch& patch, Value pod, const admission::Figures& figures,
                const admission::Settings& settings);
// Takes away what would pass for our words about a pod that is left as written. Its demand stays:
// that is a hint that anybody may give the extender.
void RemoveClaims(JsonPatch& patch, Value pod);

}  // namespace synergy::json
