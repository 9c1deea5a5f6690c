#pragma once

// Moves running jobs of a simulated cluster so that waiting ones fit, as the controller does on a
// real one (controller/preemption/move_driver.h). The product's own planner decides
// (engine/sharing/move_planner.h). The driver keeps places, evicts pods and follows the move.
//
// All jobs write checkpoints, so that a move loses no work, and their ends and the cost of a
// restart are known. Evicted pods end at once.
//
// Threading: one owner.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cluster/state/cluster_state.h"
#include "core/clock.h"
#include "engine/reservations/remaining_time.h"
#include "engine/reservations/waiting_jobs.h"
#include "engine/sharing/move_planner.h"
#include "engine/sharing/moves.h"
#include "sim/cluster/simulated_pods.h"
#include "sim/faults.h"
#include "sim/simulation_run.h"

namespace synergy {

struct SimulatedMoves {
  Duration after = std::chrono::minutes(10);  // how long a job waits before others move for it
};

class MovesDriver {
 public:
  struct Training {
    std::string workload;
    // Iterations per second over at least GpuMoves::kCompared iterations; absent: unknown.
    std::optional<double> rate;
  };
  struct Sources {
    std::string scheduler_name;
    Duration restart_cost{};
    // Returns the training of that pod's job; nullopt if not all its pods run, or if it must stay.
    std::function<std::optional<Training>(const std::string& uid)> training_of;
    // Returns the remaining time of a pod's job; nullopt while that is unknown.
    std::function<std::optional<Duration>(const std::string& uid)> remaining_of;
    // Ends these pods. Their controllers create replacements later.
    std::function<void(const std::vector<std::shared_ptr<const Pod>>& pods)> evict;
    std::function<std::vector<GpuReservation>()> reservations;
    std::function<bool(const Pod& pod, const NodeState& node)> admits;  // see MovesView::admits
  };

  // All references must outlive this object. `faults` determines which calls fail.
  MovesDriver(const SimulatedMoves& options, Sources sources, const ClusterState& state,
              SimulatedPods& pods, Faults& faults);

  // Records that something may have changed, so that Run() may be due soon.
  void Look(Instant now);
  // Returns when Run() is due if nothing happens; Instant::max() if never.
  Instant wake() const { return wake_; }
  // Carries out everything that is due.
  void Run(Moment at);

  // Records that the pod's job trains from then on, in this run.
  void Trains(const std::string& uid, Instant from);
  // Records that the pod's job has done its work.
  void Finished(const std::string& uid, Instant now);
  // Records that the pods of that pod's job are about to be deleted. They may be created again.
  void Forget(const std::string& uid);

  // Returns the GPUs of a waiting pod for which a move keeps a place on the node; nullopt if there
  // is none.
  std::optional<Gpus> KeptOn(const std::string& node) const;

  MoveFigures Figures() const;

 private:
  // A job that has moved.
  struct Moved {
    std::string workload;
    std::string kind;                // kind of the nodes to which it moves
    std::set<std::string> pods;      // before the move
    std::vector<std::string> nodes;  // where its new pods may go
    Gpus gpus;
    Instant evicted{};
    std::optional<double> rate;  // before the move
    bool trains = false;         // it trains again
    bool compared = false;
    std::set<std::string> guided;  // new pods
  };
  // A move whose waiter is not bound yet.
  struct Attempt {
    std::string job;
    std::vector<PlannedPlace> places;
    Instant began{};
    Instant renewed{};
  };
  // The inputs of a plan without a move. While they stay the same, there is still no move, because
  // gains fall with time.
  struct Basis {
    uint64_t version = 0;  // the cluster's version
    std::vector<std::string> waiters;
    size_t known_ends = 0;
    size_t rests = 0;
    size_t worse = 0;

    bool operator==(const Basis&) const = default;
  };

  void Advance(Moment at);
  void Finish(bool used);
  void Guide(Moment at);
  bool Guides(Instant now) const;
  void Compare(const std::vector<RunningJob>& running);
  void Plan(Moment at);
  std::vector<JobInLine> Waiters(const ClusterSnapshot& snapshot, Moment at);
  void Begin(const PlannedMove& plan, Moment at);
  bool KeepPlaces(const std::vector<PlannedPlace>& places, WallTime now);
  void EndPlaces(const std::vector<PlannedPlace>& places);
  std::string NameOf(const std::string& uid) const;

  const SimulatedMoves options_;
  const Sources sources_;
  const ClusterState& state_;
  SimulatedPods& pods_;
  Faults& faults_;
  GpuMoves moves_;
  RemainingTimes times_{RemainingTimes::kConfidence};
  std::optional<Attempt> attempt_;
  std::map<std::string, Moved> moved_;    // by job
  std::set<std::string> helped_;          // waiters: a name, and the uid of the first pod
  std::map<std::string, Instant> rests_;  // ends of rests, by job
  std::optional<Basis> basis_;
  std::optional<Instant> looked_;
  std::optional<Instant> stepped_;
  uint64_t looked_writes_ = 0;
  Instant next_in_line_ = Instant::max();  // when the next job will have waited long enough
  Instant wake_ = Instant::max();
  uint64_t in_vain_ = 0;
  double gpu_seconds_lost_ = 0;
};

}  // namespace synergy
