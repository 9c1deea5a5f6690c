#pragma once

// The profiler's settings, which also apply when pods are compared with profiles that users wrote.
//
// Threading: pure.

#include "config/controller_config.h"
#include "engine/profiler/profiler.h"

namespace synergy::controller {

ProfilerSettings ToProfilerSettings(const config::ControllerConfig& config);

}  // namespace synergy::controller
