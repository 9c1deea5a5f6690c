#pragma once

// The settings of the profiler, by which profiles that somebody wrote are compared with pods, too.
//
// Threading: pure.

#include "config/controller_config.h"
#include "engine/profiler/profiler.h"

namespace synergy::controller {

ProfilerSettings ToProfilerSettings(const config::ControllerConfig& config);

}  // namespace synergy::controller
