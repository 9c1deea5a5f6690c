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
  bool Do(const Pod& pod, const tuner_action::KeepPlace& place);
  bool Do(const Pod& pod, const tuner_action::EndPlace& place);
  bool Do(const Pod& pod, const tuner_action::Remind& reminder);
  bool Do(const Pod& pod, const tuner_action::Announce& step);
  bool Do(const Pod& pod, const tuner_action::Resize& step);
  bool Do(const Pod& pod, const tuner_action::Record& step);
  bool Do(const Pod& pod, const tuner_action::Withdraw& step);
  bool Do(const Pod& pod, const tuner_action::PutBack& step);
  bool Do(const Pod& pod, const tuner_action::Notify& notice);
  bool IsWritable(const Pod& pod, const tuner_action::ChangeStep& step) const;
  bool Record(const Pod& pod, const ChangeRecord& change,
              std::optional<WallTime> unshrinkable_until);
  bool Resize(const Pod& pod, const ChangeRecord& change);

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
