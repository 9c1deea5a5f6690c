#pragma once

// What we write about pods: resizes, annotations, bindings.
//
// Threading: pure. Every text names the pod's UID, so that the API server refuses it (409) for a
// namesake created later.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "admission/admission.h"
#include "cluster/fungible.h"
#include "core/clock.h"
#include "core/resources.h"

namespace synergy::wire {

// Keys and values; none removes the key.
using AnnotationChanges = std::vector<std::pair<std::string_view, std::optional<std::string>>>;

// What of `amounts` a resize is about.
enum class Resized : uint8_t { kBoth, kCpu, kMemory };

// Body of PATCH pods/{name}/resize as application/strategic-merge-patch+json: the container's
// requests become `amounts`, and its limits what its enforcement makes of them; a memory limit
// that is in force only grows. A limit is never added or removed, because that would change the
// pod's QoS class, which the API server refuses.
// The other dimension, where there is one, is not in it.
// `unchanged_since` other than 0: refused with a conflict if the pod has changed after that
// resourceVersion.
std::string WriteResize(const std::string& uid, const Fungible& fungible,
                        const ResourceVector& amounts, Resized resized = Resized::kBoth,
                        uint64_t unchanged_since = 0);

// What of it changes when a running pod gets another profile, or loses it.
AnnotationChanges ProfileOf(const AdmissionFigures& figures);

// What admission's figures are on the pod, beside the container and what it asked for before.
AnnotationChanges FiguresOf(const AdmissionFigures& figures);

// Body of PATCH as application/merge-patch+json; `unchanged_since` as above.
std::string WriteAnnotationChanges(const std::string& uid, const AnnotationChanges& changes,
                                   uint64_t unchanged_since = 0);

// The body of POST .../pods/{name}/binding; the annotations are set on the pod with it, at once.
// `unchanged_since` as above.
std::string WriteBinding(const std::string& pod_namespace, const std::string& name,
                         const std::string& uid, const std::string& node,
                         const AnnotationChanges& annotations = {}, uint64_t unchanged_since = 0);

// The body of POST .../pods/{name}/eviction. `dry_run`: nothing is done but said whether it would
// be.
std::string WriteEviction(const std::string& pod_namespace, const std::string& name,
                          const std::string& uid, bool dry_run);

// Values of annotations.
std::string WriteChange(const ChangeRecord& change);
std::string WriteMemoryReading(const MemoryReading& reading);
std::string WriteDevices(const DeviceReading& reading);
std::string WriteProbe(const CpuProbe& probe);
std::string WriteKeptPlace(const std::string& node, WallTime until);

}  // namespace synergy::wire
