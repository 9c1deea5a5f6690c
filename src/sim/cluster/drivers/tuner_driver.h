#pragma once

// Runs the tuner on a simulated cluster, as the controller does on a real one: its decisions are
// written to the simulated pods.
//
// Threading: one owner.

#include <functional>
#include <string>
#include <vector>

#include "cluster/state/cluster_state.h"
#include "core/clock.h"
#include "engine/reservations/gpu_reservations.h"
#include "engine/tuner/tuner.h"
#include "sim/cluster/simulated_pods.h"
#include "sim/faults.h"

namespace synergy {

class TunerDriver {
 public:
  // Called after the spec of a bound pod requests other amounts.
  using Resized = std::function<void(const std::string& uid)>;

  // All arguments must outlive this object. From now on the driver takes the news of `state`.
  // `faults` determines which writes fail or are late. `storage`: null if the storage is unknown.
  TunerDriver(const TunerSettings& settings, const ProfileCatalog& profiles,
              const StorageCatalog* storage, ClusterState& state, SimulatedPods& pods,
              Resized resized, Faults& faults, Moment at);

  // Sets the GPU reservations in force. The next Run() considers them.
  void SetReservations(std::vector<GpuReservation> reservations, Instant now);
  // Decides on news, and when a decision is due, until nothing is left to do or writes are late.
  // Late writes, and the decisions after them, follow when Run() is due again.
  void Run(Moment at);
  // Returns when Run() is due if nothing happens.
  Instant wake() const { return wake_; }
  uint64_t rounds() const { return rounds_; }
  uint64_t decisions() const { return decisions_; }  // those that led to an action

 private:
  void Carry(const std::vector<TunerAction>& actions, Moment at);
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
  Faults& faults_;
  std::vector<TunerAction> late_;  // decided, and written when Run() is due
  Instant wake_{};
  uint64_t rounds_ = 0;
  uint64_t decisions_ = 0;
};

}  // namespace synergy
