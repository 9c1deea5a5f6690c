#pragma once

// Counts the members of a gang that have Succeeded: they do not run again, so the gang now consists
// only of the other members. The watch has only living pods, so the count comes from the API
// server. Pods of an earlier run do not count, such as those of a CronJob's last Job: a member has
// the same owner (Gang::run) as a living one.
//
// Threading: any thread; a call takes two seconds at most.

#include <cstddef>
#include <functional>

#include "cluster/pod.h"
#include "cluster/state/cluster_state.h"
#include "core/clock.h"
#include "core/log.h"
#include "kube/api_client.h"
#include "wire/objects/objects.h"

namespace synergy::kube {

// Counts the Succeeded members of that pod's gang.
using CountSucceeded = std::function<size_t(const Pod& pod)>;

// The function returns 0 if the API server does not answer. The arguments must outlive the result.
CountSucceeded AskForSucceeded(ApiClient& client, const wire::ObjectReader& reader,
                               const ClusterState& state, const Clock& clock, Logger& log);

}  // namespace synergy::kube
