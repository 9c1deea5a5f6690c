#pragma once

// Carries out moves (engine/sharing/move_planner.h). A move has these steps:
//
//   asked     the moving Job ignores DisruptionTarget, so that evicted pods count as no failure
//   kept      a place is kept for each of the waiter's pods, so that no other pod takes the room
//   tried     a dry run of the evictions: if one would be refused, none is made
//   recorded  in a ConfigMap of Synergy, so that the job does not move again
//   evicted   by the Eviction API; refused evictions are tried again
//   followed  until the waiter's pods have nodes, or have not used the room. Each new pod of the
//             job gets one kept place on a planned node, so that it prefers that node for a while
//   compared  the job's rate after GpuMoves::kCompared iterations with that before
//
// Each waiter gets at most one move, even if that move does not help it.
//
// Threading: one owner. Failures: before the first eviction, any failure ends the move, and the
// kept places lapse. If no eviction succeeds, the driver reads from the API server which pods still
// run: if all do, the move ends, and the job rests. A new leader reads the record: if no pod was
// evicted, it forgets the move; otherwise it continues the move.

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/claims.h"
#include "cluster/state/cluster_state.h"
#include "cluster/state/pod_acts.h"
#include "controller/cluster/keyed_store.h"
#include "controller/preemption/restart_costs.h"
#include "controller/preemption/training_ends.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/result.h"
#include "engine/sharing/move_planner.h"
#include "engine/sharing/move_records.h"
#include "engine/sharing/moves.h"
#include "kube/apis/events.h"
#include "kube/apis/move_api.h"
#include "kube/apis/pod_api.h"
#include "metrics/controller_metrics.h"
#include "queues/kueue.h"
#include "wire/pods/gpu_reservation.h"
#include "wire/pods/moves.h"

namespace synergy::controller {

struct MoveDriverSettings {
  std::string scheduler_name = kDefaultSchedulerName;
  Duration after = std::chrono::minutes(10);  // how long a job waits before others move for it
  // The cost of a restart where it cannot be measured; 0: such jobs do not move.
  Duration restart_cost{};
  ResourceVector headroom;
  Duration keep = kDefaultHold;  // how long a place is kept before it is renewed or lapses
  Duration leave = std::chrono::minutes(10);  // the least time that evicted pods get to leave
  Duration most_leave = std::chrono::hours(1);
  Duration look = std::chrono::seconds(5);   // between two plans
  Duration rest = std::chrono::minutes(10);  // before a job or a waiter is considered again
};

// The sources of a plan, kept by watches. All must outlive the driver.
struct MoveSources {
  ClusterState& state;
  const KeyedStore<wire::PodTimes>& times;
  const KeyedStore<wire::MovablePod>& pods;
  TrainingEnds::ProgressOf progress;
  ProfileCheckpoints checkpoints;
};

class MoveDriver {
 public:
  // All references must outlive this object. The API server's answers are stored in the state, and
  // evictions in `acts`. `may_act` is checked before each call.
  MoveDriver(MoveDriverSettings settings, MoveSources sources, kube::PodApi& pod_api,
             kube::EvictionApi& evictions, kube::MoveApi& moves, kube::EventRecorder& events,
             PodActs& acts, std::function<bool()> may_act, const Clock& clock, Logger& log,
             metrics::ControllerMetrics& metrics);

  // Forgets its state; the next step reads the record. Call it on becoming the leader.
  void StartOver();
  // Does what is due now. Call it about every second while the cluster is visible.
  void Step(const std::stop_token& stop);

 private:
  using Pods = std::vector<std::shared_ptr<const Pod>>;

  // A move whose pods are evicted, or about to be.
  struct Attempt {
    std::string owner;  // UID of the moving job's owner
    std::string job;
    std::string waiter;
    std::vector<PlannedPlace> places;
    Pods asked;    // evicted, and not known to be gone
    Pods refused;  // to be evicted again
    size_t evicted = 0;
    Instant began{};
    Duration leave{};
    Instant kept{};     // when all places were last written
    Instant renewed{};  // when that was last tried
    Instant tried{};    // when evictions were last requested
    std::optional<Instant> room_since{};
  };
  enum class End { kMoved, kInVain, kRefused, kWaiterGone };
  static std::string_view ToString(End end);

  // Reads the record, and takes over the move that a previous leader had begun. Returns whether the
  // record is known.
  bool Load(const std::stop_token& stop);
  // Returns whether the move had begun to evict.
  Result<bool> TakeOver(MoveRecord& record, const std::stop_token& stop);
  // Returns how long evicted pods may take to leave.
  Duration LeaveOf(const Pods& pods) const;
  void Advance(const std::stop_token& stop);
  void Finish(End end, std::string_view why, const std::stop_token& stop);
  MovesView View(Moment at);
  std::vector<JobInLine> Waiters(const ClusterSnapshot& snapshot, Moment at) const;
  std::vector<MovingJob> MovingJobs(Moment at) const;
  void Begin(const PlannedMove& plan, const std::stop_token& stop);
  // Returns why the job may not move, by its Job `name`; empty if it may.
  std::string Obstacle(const MovingJob& job, const std::string& name, const std::stop_token& stop);
  // Keeps the waiter's places, and checks by a dry run whether all pods may be evicted. Returns
  // whether the move may go on; otherwise the places are given up and the move is ended.
  bool Prepare(const PlannedMove& plan, const std::stop_token& stop);
  // Returns whether a pod of the waiter has a node by now.
  bool HasBound(const std::vector<PlannedPlace>& places) const;
  // Ends the move before its first eviction. `resting`: the job or waiter to leave alone for a
  // while.
  void Drop(const PlannedMove& plan, const std::string& resting, std::string_view why);
  // Reports the move in the log, and on the pods of both jobs.
  void Announce(const PlannedMove& plan, const ObjectOwner& owner, const std::string& job);
  // Keeps places on the planned nodes for the job's new pods.
  void Guide(const std::stop_token& stop);
  void Compare(const std::stop_token& stop);
  bool KeepPlaces(const std::vector<PlannedPlace>& places, const std::stop_token& stop);
  void EndPlaces(const std::vector<PlannedPlace>& places, const std::stop_token& stop);
  // Returns whether an eviction that seemed to fail may have been made: a pod is gone, ends, or
  // cannot be read.
  bool MayHaveEvicted(const Pods& pods, const std::stop_token& stop);
  // Returns the pods that could not be evicted.
  Pods Evict(const Pods& pods, const std::stop_token& stop);
  bool Store(const std::stop_token& stop);
  // The author of a pod chooses its owner reference, so an owner counts only within its namespace.
  Pods PodsOf(const MoveRecord& record) const;
  void Record(const Pod& pod, std::string message);
  void Record(const ObjectOwner& owner, const std::string& its_namespace, std::string message);
  bool MayGoOn(const std::stop_token& stop) const { return !stop.stop_requested() && may_act_(); }

  const MoveDriverSettings settings_;
  const MoveSources sources_;
  kube::PodApi& pod_api_;
  kube::EvictionApi& evictions_;
  kube::MoveApi& move_api_;
  kube::EventRecorder& events_;
  PodActs& acts_;
  const std::function<bool()> may_act_;
  const Clock& clock_;
  Logger& log_;
  metrics::ControllerMetrics& metrics_;
  TrainingEnds ends_;
  RestartCosts restarts_;
  GpuMoves moves_;
  std::optional<PublishedMoves> records_;  // as stored; absent: to be read
  std::optional<Attempt> attempt_;
  std::map<std::string, Instant> rests_;  // ends of rests, by owner and by waiter
  std::set<std::string> guided_;          // uids of pods that got a place
  std::optional<Instant> looked_;
  Instant load_from_ = Instant::min();
};

}  // namespace synergy::controller
