#pragma once

// What we write about pods: resizes, annotations, bindings.
//
// Threading: pure. Every text names the pod's UID, so that the API server refuses it (409) for a
// namesake created later.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/fungible.h"
#include "core/clock.h"
#include "core/resources.h"

namespace synergy::json {

// Keys and values; none removes the key.
using AnnotationChanges = std::vector<std::pair<std::string_view, std::optional<std::string>>>;

// Body of PATCH pods/{name}/resize as application/strategic-merge-patch+json: the container's
// requests become `amounts`, and its limits what its enforcement makes of them. A limit is never
// added or removed, because that would change the pod's QoS class, which the API server refuses.
// `unchanged_since` other than 0: refused with a conflict if the pod has changed after that
// resourceVersion.
std::string WriteResize(const std::string& uid, const Fungible& fungible,
                        const ResourceVector& amounts, uint64_t unchanged_since = 0);

// Body of PATCH as application/merge-patch+json; `unchanged_since` as above.
std::string WriteAnnotationChanges(const std::string& uid, const AnnotationChanges& changes,
                                   uint64_t unchanged_since = 0);

// The body of POST .../pods/{name}/binding; the annotations are set on the pod with it, at once.
std::string WriteBinding(const std::string& pod_namespace, const std::string& name,
                         const std::string& uid, const std::string& node,
                         const AnnotationChanges& annotations = {});

// Values of annotations.
std::string WriteChange(const ChangeRecord& change);
std::string WriteHold(const std::string& node, WallTime until);

}  // namespace synergy::json
