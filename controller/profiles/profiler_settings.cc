#include "controller/profiles/profiler_settings.h"

#include <algorithm>
#include <cstddef>

#include "core/clock.h"

namespace synergy::controller {

ProfilerSettings ToProfilerSettings(const config::ControllerConfig& config) {
  const config::ControllerConfig::Profiling& profiling = config.profiling;
  ProfilerSettings settings;
  settings.warm_up = profiling.warm_up;
  settings.window = profiling.window;
  settings.probe_window = profiling.probe_window;
  settings.probe_lead = profiling.probe_lead;
  settings.longest_window = std::max<Duration>(settings.longest_window, 2 * profiling.window);
  settings.most_loss = profiling.most_loss_percent / 100;
  settings.probes_at_once = static_cast<size_t>(profiling.probes_at_once);
  settings.bursts = profiling.bursts;
  settings.drift = static_cast<double>(profiling.drift_percent) / 100;
  settings.drift_time = profiling.drift_time;
  return settings;
}

}  // namespace synergy::controller
