#pragma once

// Gives GPU reservations to jobs that have waited long (engine/reservations). It plans them from
// the running and waiting jobs, writes them on the jobs' pods, where the extender reads them, and
// renews and removes them. kube-scheduler gets no event when a reservation moves or ends, so the
// driver makes it retry the refused pods.
//
// Threading: one owner. Failures: a failed write is repeated in the next step. Without steps,
// reservations expire (PublishedReservation::kLifetime).

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
#include "engine/reservations/waiting_times.h"
#include "kube/apis/events.h"
#include "kube/apis/pod_api.h"
#include "wire/pods/gpu_reservation.h"

namespace synergy::controller {

struct ReservationDriverSettings {
  std::string scheduler_name = kDefaultSchedulerName;
  ReservationSettings reservations;
  size_t reminders_per_step = 20;  // also limits the pods whose longest runs are written
};

class ReservationDriver {
 public:
  // Returns whether an autoscaler is creating a node for the pod.
  using ExpectsNode = std::function<bool(const Pod& pod, WallTime now)>;

  // All references must outlive this object. `times`: the times of all pods of the scheduler. The
  // API server's answers are stored in `state`. `may_act` is checked before each call.
  ReservationDriver(ReservationDriverSettings settings, ClusterState& state,
                    TrainingEnds::ProgressOf progress, const KeyedStore<wire::PodTimes>& times,
                    ExpectsNode expects_node, kube::PodApi& pods, kube::EventRecorder& events,
                    std::function<bool()> may_act, const Clock& clock, Logger& log);

  // Takes over the reservations that another replica wrote. Call it on becoming the leader.
  void StartOver();
  // Records which jobs run, and their progress. Call it every few seconds on a replica that does
  // not lead, so that the replica knows how long trainings take once it leads.
  void Observe();
  // Makes a plan and carries it out. Call it every few seconds while the cluster is visible.
  void Step(const std::stop_token& stop);
  // Returns the reservations of the last step.
  const std::vector<GpuReservation>& reservations() const { return reservations_; }

 private:
  // A job's pods may have been replaced, so its reservation is also known by the pods' owner.
  struct OfOwner {
    GpuReservation reservation;
    Instant planned{};
  };

  // Jobs of one namespace and size. If one of them waits for something other than GPUs, so may the
  // others, for example all tasks of a sweep.
  struct JobKind {
    std::string of_namespace;
    size_t pods = 0;
    Gpus gpus;  // GPUs of its first pod
    auto operator<=>(const JobKind&) const = default;
  };
  static JobKind KindOf(const JobInLine& job);

  // Returns the namespace and the UID of the pod's owner; empty if it has none.
  std::string OwnerOf(const Pod& pod) const;
  // Returns the reservations of the last step, and earlier reservations of jobs in line whose pods
  // are new.
  std::vector<GpuReservation> LastReservationsOf(const std::vector<JobInLine>& in_line,
                                                 Instant now);
  // Records which jobs run or wait.
  void Look(const std::vector<RunningJob>& running, Moment at);
  // Removes from the line the kinds of jobs that have not started although their GPUs were free.
  void SetAside(std::vector<JobInLine>& in_line, Instant now);
  // Records which jobs need not wait for GPUs.
  void NoteFreeGpus(Instant now);
  void Write(const std::vector<JobInLine>& in_line, Moment at, const std::stop_token& stop);
  // Removes annotations of reservations that no longer exist.
  void RemoveOthers(const std::stop_token& stop);
  // Writes on each refused pod how long it will run, if that is known, and keeps the value up to
  // date.
  void WriteLongestRuns(WallTime now, const std::stop_token& stop);
  void AnnounceStarts(const std::vector<JobInLine>& in_line, Moment at);
  void ExplainMissing(const std::vector<JobInLine>& in_line,
                      const std::vector<ReservationOutcome>& outcomes);
  // Starts to remind kube-scheduler of the refused pods.
  void BeginToRemind();
  void Remind(const std::stop_token& stop);
  bool Annotate(const Pod& pod, std::string_view key, std::optional<std::string> value,
                const std::stop_token& stop);
  void Record(const Pod& pod, std::string reason, std::string message);
  bool MayGoOn(const std::stop_token& stop) const { return !stop.stop_requested() && may_act_(); }

  const ReservationDriverSettings settings_;
  ClusterState& state_;
  const KeyedStore<wire::PodTimes>& times_;
  const ExpectsNode expects_node_;
  kube::PodApi& pods_;
  kube::EventRecorder& events_;
  const std::function<bool()> may_act_;
  const Clock& clock_;
  Logger& log_;
  TrainingEnds ends_;
  WaitingTimes waiting_times_;
  std::vector<GpuReservation> reservations_;
  std::map<std::string, OfOwner> last_of_owners_;  // by OwnerOf()
  std::map<std::string, Instant> free_since_;      // by job with a reservation
  std::map<JobKind, Instant> set_aside_until_;
  std::map<std::string, GpuReservation> announced_starts_;        // by job
  std::map<std::string, ReservationOutcome> announced_outcomes_;  // by job
  std::deque<std::string> to_remind_;                             // uids
  std::optional<Instant> stepped_;
};

}  // namespace synergy::controller
