#pragma once

// Events about a workload, recorded on the job that owns it, where its user looks.
//
// Threading: pure.

#include <string>

#include "core/result.h"
#include "kube/apis/events.h"
#include "queues/kueue.h"

namespace synergy::controller {

kube::EventRecord AboutJob(const Workload& workload, std::string reason, std::string message);

// Returns whether the object has changed since it was read, or is gone. The watch reports that.
bool IsOutdated(const Result<>& written);

}  // namespace synergy::controller
