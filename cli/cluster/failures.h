#pragma once

// Reads the records of failures that the controller keeps in Synergy's namespace, with the user's
// own rights.
//
// This file is separate because this folder is the only one that reads the API server; the commands
// only show.
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
  std::string note;  // why there are none; empty if they were read
};

// Reads the records of one namespace, or of all if the name is empty.
RecordedFailures ReadFailures(kube::ApiClient& client, const wire::ObjectReader& reader,
                              const std::string& synergy_namespace,
                              const std::string& pod_namespace);

// Returns the nodes that workloads avoid now; none if they are not visible to the user.
AvoidedNodes ReadAvoidedNodes(kube::ApiClient& client, const std::string& synergy_namespace);

}  // namespace synergy::cli
