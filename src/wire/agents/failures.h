#pragma once

// Pods that ended with a failure, as read from the API server, and ConfigMaps in Synergy's own
// namespace. One ConfigMap per namespace has the records of failures, and another the nodes that
// workloads avoid.
//
// Threading: pure. ObjectReader reads lists and watches of EndedPod, FailureHistory and
// PublishedAvoidedNodes.

#include <string>
#include <string_view>

#include "cluster/pod_failure.h"
#include "core/result.h"
#include "engine/retries/avoided_nodes.h"
#include "wire/objects/objects.h"

namespace synergy::wire {

// The label of the ConfigMaps with records of failures.
inline constexpr std::string_view kFailuresLabel = "synergy.io/failures";
// A pod's label that names its user.
inline constexpr std::string_view kUserLabel = "synergy.io/user";

// Reads one pod; kInvalid if the text is not a JSON object.
Result<EndedPod> ReadEndedPod(std::string_view text, const PodRules& rules);

// The parts of an owner that the controller needs.
struct OwnerFacts {
  std::string uid;
  std::string queue;  // Kueue's label
  ObjectOwner owner;  // its own controller
  WallTime created{};
};
Result<OwnerFacts> ReadOwnerFacts(std::string_view text);

// Returns "synergy-failures-NAMESPACE".
std::string FailureHistoryName(std::string_view of_namespace);
// Return the whole ConfigMap, for a POST, and the merge patch that replaces its records. The patch
// causes a conflict if the ConfigMap has changed since it was read.
std::string WriteNewFailureHistory(const FailureHistory& history);
std::string WriteFailureHistoryPatch(const FailureHistory& history);
// Returns the body of the DELETE, which causes a conflict if the ConfigMap has changed since it was
// read.
std::string WriteFailureHistoryDeletion(const FailureHistory& history);
Result<FailureHistory> ReadFailureHistory(std::string_view text);

inline constexpr std::string_view kAvoidedNodesName = "synergy-elsewhere";
// Do the same for the nodes that workloads avoid. Unreadable entries are ignored.
std::string WriteNewAvoidedNodes(const PublishedAvoidedNodes& avoided);
std::string WriteAvoidedNodesPatch(const PublishedAvoidedNodes& avoided);
Result<PublishedAvoidedNodes> ReadAvoidedNodes(std::string_view text);

}  // namespace synergy::wire
