#pragma once

// Live profiling at work: one thread that steps every two seconds while this replica leads and sees
// the cluster. It measures (profiling_driver.h), gives running pods what was measured
// (pod_adopter.h), and deletes what nobody uses any more (measured_keeper.h).
//
// Threading: one thread of its own.

#include <functional>
#include <stop_token>
#include <thread>

#include "controller/profiles/measured_keeper.h"
#include "controller/profiles/pod_adopter.h"
#include "controller/profiling/profiling_driver.h"
#include "core/clock.h"

namespace synergy::controller {

class Profiling {
 public:
  // All references outlive this. `may_act`: as in tuning.h.
  Profiling(ProfilingDriver& driver, PodAdopter& adopter, MeasuredKeeper& keeper,
            std::function<bool()> may_act, const Clock& clock);

  void Start();
  void Stop();

 private:
  void Run(const std::stop_token& stop);

  ProfilingDriver& driver_;
  PodAdopter& adopter_;
  MeasuredKeeper& keeper_;
  const std::function<bool()> may_act_;
  const Clock& clock_;
  std::jthread thread_;
};

}  // namespace synergy::controller
