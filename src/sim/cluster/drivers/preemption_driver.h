#pragma once

// Runs gang preemption on a simulated cluster, as the controller does on a real one: it keeps
// places on the simulated pods, and evicts the victims.
//
// Threading: one owner.

#include <functional>
#include <memory>
#include <vector>

#include "cluster/state/cluster_state.h"
#include "core/clock.h"
#include "engine/gangs/gang_preemption.h"
#include "sim/cluster/simulated_pods.h"
#include "sim/faults.h"

namespace synergy {

class PreemptionDriver {
 public:
  // Ends these pods. Their controllers create replacements later.
  using Evict = std::function<void(const std::vector<std::shared_ptr<const Pod>>& pods)>;

  // All arguments must outlive this object. `faults` determines which writes fail.
  PreemptionDriver(GangPreemptionSettings settings, const ClusterState& state, SimulatedPods& pods,
                   Faults& faults, Evict evict)
      : preemption_(std::move(settings)),
        state_(state),
        pods_(pods),
        faults_(faults),
        evict_(std::move(evict)) {}

  // Records that pods may wait now, so that Run() may be due in a second.
  void Look(Instant now);
  // Returns when Run() is due if nothing happens; Instant::max() if never.
  Instant wake() const { return wake_; }
  // Carries out everything that is due.
  void Run(Moment at);

 private:
  PreemptionResult Do(const preemption_action::KeepPlaces& action);
  PreemptionResult Do(const preemption_action::EndPlaces& action);
  PreemptionResult Do(const preemption_action::TryEvictions& action);
  PreemptionResult Do(const preemption_action::Evict& action);
  PreemptionResult Do(const preemption_action::Begin&) { return {}; }
  PreemptionResult Do(const preemption_action::End&) { return {}; }
  bool KeepPlace(const Pod& pod, const std::string& node, WallTime until);

  GangPreemption preemption_;
  const ClusterState& state_;
  SimulatedPods& pods_;
  Faults& faults_;
  const Evict evict_;
  Instant wake_ = Instant::max();
};

}  // namespace synergy
