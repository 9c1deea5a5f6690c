#pragma once

// How many members of a gang have Succeeded: they will not come again, and those that come are all
// there will be. The watch knows only pods that live, so the API server is asked.
//
// Threading: from any thread; a call takes two seconds at most.

#include <cstddef>
#include <functional>

#include "cluster/pod.h"
#include "core/clock.h"
#include "core/log.h"
#include "kube/api_client.h"
#include "wire/objects/objects.h"

namespace synergy::extender {

// Counts those of that pod's gang.
using CountSucceeded = std::function<size_t(const Pod& pod)>;

// 0 where the API server does not say. All outlive what is returned.
CountSucceeded AskForSucceeded(kube::ApiClient& client, const wire::ObjectReader& reader,
                               const Clock& clock, Logger& log);

}  // namespace synergy::extender
