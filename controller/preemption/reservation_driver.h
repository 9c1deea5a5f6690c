#pragma once

// Gives GPU reservations to jobs that have waited long (engine/reservations): plans them by what
// runs and waits, writes them on the pods of the jobs that have them, from where the extender reads
// them, and renews and removes them. A reservation that moved or ended is no event for
// kube-scheduler, so the driver reminds it of the pods that were refused.
//
// Threading: one owner.
// Failures: a write that fails is made again with the next step. Without steps, reservations expire
// (PublishedReservation::kLifetime).

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/state/cluster_state.h"
#include "controller/cluster/keyed_store.h"
#include "controller/preemption/training_ends.h"
#include "core/clock.h"
#include "core/log.h"
#include "engine/reservations/gpu_reservations.h"
#include "engine/reservations/published_reservation.h"
#include "engine/reservations/waiting_jobs.h"
#include "kube/apis/events.h"
#include "kube/apis/pod_api.h"
#include "wire/pods/gpu_reservation.h"

namespace synergy::controller {

struct ReservationDriverSettings {
  std::string scheduler_name = kDefaultSchedulerName;
  ReservationSettings reservations;
  size_t reminders_per_step = 20;  // also the most pods whose longest runs are written
};

class ReservationDriver {
 public:
  // All references outlive this. `times`: of all pods of the scheduler. The API server's answers go
  // into `state`. `may_act` is checked before each call.
  ReservationDriver(ReservationDriverSettings settings, ClusterState& state,
                    TrainingEnds::ProgressOf progress, const KeyedStore<wire::PodTimes>& times,
                    kube::PodApi& pods, kube::EventRecorder& events, std::function<bool()> may_act,
                    const Clock& clock, Logger& log);

  // Takes over the reservations that another replica has written. Call it on becoming the leader.
  void StartOver();
  // Takes in what runs, and how far it is. Call it every few seconds on a replica that does not
  // lead: once it leads, it has learnt how long trainings take.
  void Observe();
  // Plans, and does what follows. Call it every few seconds while the cluster can be seen.
  void Step(const std::stop_token& stop);

 private:
  // Removes jobs from the line that have not started although their GPUs were free.
  void SetAside(std::vector<JobInLine>& in_line, Instant now);
  // Takes in which jobs need not wait for GPUs.
  void NoteFreeGpus(Instant now);
  void Write(const std::vector<JobInLine>& in_line, Moment at, const std::stop_token& stop);
  // Removes what is written of reservations that no longer hold.
  void RemoveOthers(const std::stop_token& stop);
  // Writes on refused pods how long they will run, as far as that is learnt, and keeps it right.
  void WriteLongestRuns(WallTime now, const std::stop_token& stop);
  void AnnounceStarts(const std::vector<JobInLine>& in_line, Moment at);
  void ExplainMissing(const std::vector<JobInLine>& in_line,
                      const std::vector<ReservationOutcome>& outcomes);
  // From now on reminds kube-scheduler of the pods that are refused.
  void BeginToRemind();
  void Remind(const std::stop_token& stop);
  bool Annotate(const Pod& pod, std::string_view key, std::optional<std::string> value,
                const std::stop_token& stop);
  void Record(const Pod& pod, std::string reason, std::string message);
  bool MayGoOn(const std::stop_token& stop) const { return !stop.stop_requested() && may_act_(); }

  const ReservationDriverSettings settings_;
  ClusterState& state_;
  const KeyedStore<wire::PodTimes>& times_;
  kube::PodApi& pods_;
  kube::EventRecorder& events_;
  const std::function<bool()> may_act_;
  const Clock& clock_;
  Logger& log_;
  TrainingEnds ends_;
  std::vector<GpuReservation> reservations_;
  std::map<std::string, Instant> free_since_;                     // by job with a reservation
  std::map<std::string, Instant> set_aside_until_;                // by job
  std::map<std::string, GpuReservation> announced_starts_;        // by job
  std::map<std::string, ReservationOutcome> announced_outcomes_;  // by job
  std::deque<std::string> to_remind_;                             // uids
};

}  // namespace synergy::controller
