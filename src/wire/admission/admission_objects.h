#pragma once

// The parts of admission that speak JSON: what a pod says before it is created, and what is to be
// changed of it. Private to this folder.
//
// Threading: pure.

#include <string>
#include <string_view>
#include <vector>

#include "admission/admission.h"
#include "admission/pod_to_admit.h"
#include "wire/base/json_words.h"

namespace synergy::wire {

// `pod_namespace`: where the pod is being created; a pod's own word for it may be missing.
PodToAdmit ReadPodToAdmit(FieldReader& fields, Value pod, std::string pod_namespace,
                          std::string_view gpu_resource);

// For kManaged.
void SetFigures(JsonPatch& patch, Value pod, const AdmissionFigures& figures,
                const AdmissionSettings& settings);
// For those whom the answer's warnings do not reach: whoever creates pods by a Job.
// After SetFigures() or RemoveClaims(), which take away those that others wrote.
void SetWarnings(JsonPatch& patch, const std::vector<std::string>& warnings);
// Takes away what would pass for our words about a pod that is left as written.
void RemoveClaims(JsonPatch& patch, Value pod);

}  // namespace synergy::wire
