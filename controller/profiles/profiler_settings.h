#pragma once

// The profiler's settings, which also apply when pods are compared with profiles that users wrote.
//
// This file is separate because the profiler and the statuses of profiles, which are different
// units, need it.
//
// Threading: pure.

#include "config/controller_config.h"
#include "engine/profiler/profiler.h"

namespace synergy::controller {

ProfilerSettings ToProfilerSettings(const config::ControllerConfig& config);

}  // namespace synergy::controller
