#pragma once

// Reads the records of failures that the controller keeps in Synergy's namespace, with the user's
// own rights.
//
// Threading: values; one caller at a time.

#include <string>
#include <vector>

#include "cluster/pod_failure.h"
#include "engine/retries/avoided_nodes.h"
#include "kube/api_client.h"
#include "wire/objects/objects.h"

namespace synergy::cli {

struct RecordedFailures {
  std::vector<FailureHistory> histories;
  std::string note;  // why there are none; empty: they were read
};

// Reads those of one namespace, or all if it is empty.
RecordedFailures ReadFailures(kube::ApiClient& client, const wire::ObjectReader& reader,
                              const std::string& synergy_namespace,
                              const std::string& pod_namespace);

// Returns the nodes that workloads avoid now; none if the user may not see them.
AvoidedNodes ReadAvoidedNodes(kube::ApiClient& client, const std::string& synergy_namespace);

}  // namespace synergy::cli
