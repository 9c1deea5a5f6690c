#pragma once

// Writes to pods: resizes, annotations, bindings.
//
// Threading: pure. Every text names the pod's UID, so that the API server refuses it (409) for a
// later pod with the same name.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "admission/admission.h"
#include "cluster/managed_container.h"
#include "core/clock.h"
#include "core/resources.h"

namespace synergy::wire {

// Keys and values; an absent value removes the key.
using AnnotationChanges = std::vector<std::pair<std::string_view, std::optional<std::string>>>;

// The amounts that a resize changes.
enum class Resized : uint8_t { kBoth, kCpu, kMemory };

// Returns the body of PATCH pods/{name}/resize as application/strategic-merge-patch+json. It sets
// the container's requests to `amounts`, and its limits according to its enforcement; a memory
// limit in force only grows. A limit is never added or removed, because that would change the pod's
// QoS class, which the API server refuses. `resized`: the resources that the patch sets.
// `unchanged_since` other than 0: the API server refuses the patch with a conflict if the pod has
// changed since that resourceVersion.
std::string WriteResize(const std::string& uid, const ManagedContainer& fungible,
                        const ResourceVector& amounts, Resized resized = Resized::kBoth,
                        uint64_t unchanged_since = 0);

// Returns the annotations that change when a running pod gets another profile, or loses its
// profile.
AnnotationChanges ProfileOf(const AdmissionFigures& figures);

// Returns the annotations of admission's figures, except the container and its original resources.
AnnotationChanges FiguresOf(const AdmissionFigures& figures);

// Returns the body of PATCH as application/merge-patch+json; `unchanged_since` as above.
std::string WriteAnnotationChanges(const std::string& uid, const AnnotationChanges& changes,
                                   uint64_t unchanged_since = 0);

// Returns the body of POST .../pods/{name}/binding, which also sets the annotations on the pod.
// `unchanged_since` as above.
std::string WriteBinding(const std::string& pod_namespace, const std::string& name,
                         const std::string& uid, const std::string& node,
                         const AnnotationChanges& annotations = {}, uint64_t unchanged_since = 0);

// Returns the body of POST .../pods/{name}/eviction. `dry_run`: only check whether the eviction is
// allowed.
std::string WriteEviction(const std::string& pod_namespace, const std::string& name,
                          const std::string& uid, bool dry_run);

// Return values of annotations.
std::string WriteChange(const ChangeRecord& change);
std::string WriteMemoryReading(const MemoryReading& reading);
std::string WriteDevices(const DeviceReading& reading);
std::string WriteProbe(const CpuProbe& probe);
std::string WriteTurn(const GpuTurn& turn);
std::string WriteKeptPlace(const std::string& node, WallTime until);

}  // namespace synergy::wire
