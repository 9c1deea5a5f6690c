#pragma once

// Events about what rounds do to a workload, where its user looks: on the job that it is of.
//
// Threading: pure.

#include <string>

#include "core/result.h"
#include "kube/apis/events.h"
#include "queues/kueue.h"

namespace synergy::controller {

kube::EventRecord AboutJob(const Workload& workload, std::string reason, std::string message);

// The object has changed since it was read, or is gone: it comes again by the watch, as it is then.
bool IsOutdated(const Result<>& written);

}  // namespace synergy::controller
