#pragma once

// The JSON side of admission: it reads the pod that is about to be created and writes the patch for
// it. Private to this folder.
//
// Threading: pure.

#include <string>
#include <string_view>
#include <vector>

#include "admission/admission.h"
#include "admission/pod_to_admit.h"
#include "wire/base/json_words.h"

namespace synergy::wire {

// `pod_namespace`: the namespace in the request, because the pod's own metadata may lack it.
PodToAdmit ReadPodToAdmit(FieldReader& fields, Value pod, std::string pod_namespace,
                          std::string_view gpu_resource);

// Patches a pod whose outcome is kManaged.
void SetFigures(JsonPatch& patch, Value pod, const AdmissionFigures& figures,
                const AdmissionSettings& settings);
// Records the warnings as an annotation, because users whose pods a Job creates never see the
// warnings of the answer. Call it after SetFigures() or RemoveClaims(), which remove such
// annotations from other writers.
void SetWarnings(JsonPatch& patch, const std::vector<std::string>& warnings);
// Removes annotations that look like Synergy's own from a pod that stays as written.
void RemoveClaims(JsonPatch& patch, Value pod);

}  // namespace synergy::wire
