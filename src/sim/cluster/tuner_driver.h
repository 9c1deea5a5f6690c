#pragma once

// Drives the tuner on a simulated cluster, as the controller does on a real one: its decisions are
// written to the simulated pods.
//
// Threading: one owner.

#include <functional>
#include <string>

#include "cluster/state/cluster_state.h"
#include "core/clock.h"
#include "engine/tuner/tuner.h"
#include "sim/cluster/simulated_pods.h"

namespace synergy {

class TunerDriver {
 public:
  // Called after the spec of a bound pod asks for other amounts.
  using Resized = std::function<void(const std::string& uid)>;

  // REQUIRES: all arguments outlive this. From now on the driver consumes the changes of `state`.
  TunerDriver(const TunerSettings& settings, const ProfileBook& profiles, ClusterState& state,
              SimulatedPods& pods, Resized resized, Moment at);

  // Decides while there are changes or a decision is due.
  void Run(Moment at);
  // When Run() is due if nothing happens.
  Instant wake() const { return wake_; }
  uint64_t rounds() const { return rounds_; }
  uint64_t decisions() const { return decisions_; }  // those that led to any action

 private:
  bool Do(const TunerAction& action);
  bool Write(const TunerAction& action, const SimulatedPods::Change& change);
  bool Resize(const TunerAction& action);

  Tuner tuner_;
  TunerMemory memory_;
  ClusterState& state_;
  SimulatedPods& pods_;
  Resized resized_;
  Instant wake_{};
  uint64_t rounds_ = 0;
  uint64_t decisions_ = 0;
};

}  // namespace synergy
