#pragma once

// Runs the planning of GPU reservations (engine/reservations) on a simulated cluster. The end of a
// job is predicted from its progress, with a random error per job as in real estimates.
// Alternatively, it is the time limit that its user gave, as under Slurm.
//
// Threading: one owner.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cluster/pod.h"
#include "cluster/state/cluster_state.h"
#include "core/clock.h"
#include "core/random.h"
#include "core/resources.h"
#include "engine/reservations/gpu_reservations.h"
#include "engine/reservations/passing_check.h"
#include "engine/reservations/remaining_time.h"

namespace synergy {

struct SimulatedReservations {
  ReservationSettings settings;
  // The standard deviation of the logarithm of each job's factor on remaining times (lognormal).
  double error = 0;
  // Whether the durations of waiting jobs are known, with the same factor.
  bool durations_known = false;
  // Whether the predicted ends are the limits that users gave (1 to 14 times the duration) instead
  // of measured ones.
  bool ends_from_users = false;
  uint64_t seed = 1;
};

class ReservationDriver {
 public:
  // Returns the true remaining time of a pod's job; nullopt while it makes no progress.
  using RemainingOf = std::function<std::optional<Duration>(const std::string& uid)>;

  // `state` must outlive this object.
  ReservationDriver(const SimulatedReservations& options, const ClusterState& state,
                    RemainingOf remaining);

  // Records that the job's pods wait, from now on or since an earlier call. `duration`: the true
  // duration.
  void Wait(const std::string& job, std::span<const Pod> pods, Duration duration, Instant now);
  // Lose() records that a pod of a gang is gone while others stay; Replace(), that these pods
  // replace such pods. The gang keeps its places.
  void Lose(const std::string& uid);
  void Replace(const std::string& job, std::span<const Pod> pods);
  // Records that the pod's job has its places, or waits again after that.
  void SetPlaced(const std::string& uid, bool placed);
  // Records that the pod's job has done its work.
  void Finished(const std::string& uid, Instant now);
  // Forgets the job of that pod, because its pods are gone.
  void ForgetJobOf(const std::string& uid);

  // Plans again if the cluster has changed or a minute has passed. Returns whether pods that were
  // refused may pass now.
  bool Plan(Instant now);
  // Returns the reservations as the product has them, with the job names that JobOf() returns.
  std::vector<GpuReservation> InTermsOfPods() const;
  // Returns when Plan() is due without a change; Instant::max() while no job waits.
  Instant due() const;

  // Returns the terms that decide whether the pod may go to reserved GPUs; nullopt if none are
  // reserved.
  std::optional<PassingTerms> TermsFor(const Pod& pod, Instant now) const;
  bool HasReservation(const std::string& uid) const;
  std::vector<std::string> PodsWithReservations() const;
  // Returns a text that is equal for pods that are refused in the same way.
  std::string LikenessOf(const std::string& uid) const;

  // The start that a plan predicted for a job a minute after its first reservation.
  struct Prediction {
    Instant at{};
    Instant start{};
  };
  std::optional<Prediction> FirstPredictionFor(const std::string& job) const;

 private:
  struct JobState {
    Instant since{};
    std::vector<std::string> pods;      // uids
    std::vector<ResourceVector> needs;  // the least amounts of each pod
    std::string name;                   // JobOf() of its pods
    size_t nodes = 0;                   // index in node_sets_
    std::string workload;
    int32_t priority = 0;
    Duration duration{};
    double factor = 1;
    double users_factor = 1;
    bool placed = false;
  };

  const std::string& NameOf(const std::string& uid) const;
  size_t NodeSetOf(const Pod& pod);
  // Returns when a running job ends, if that is known. `job`: null if it ran from the start.
  // `left`: the true remaining time.
  std::optional<TimeRange> EndOf(const JobState* job, Duration left, Instant now) const;
  void NoteEstimates(Instant now);
  GpuCluster View(const ClusterSnapshot& snapshot, Instant now) const;
  double DrawFactor();

  const SimulatedReservations options_;
  const ClusterState& state_;
  const RemainingOf remaining_;
  Random random_;
  Random users_;
  std::map<std::string, JobState> jobs_;                 // by name
  std::unordered_map<std::string, std::string> job_of_;  // by uid
  RemainingTimes times_;
  size_t waiting_ = 0;
  std::vector<std::pair<Pod, std::vector<bool>>> node_sets_;
  std::vector<GpuReservation> reservations_;
  std::map<std::string, Instant> reserved_since_;  // by job; first reservation
  std::map<std::string, Prediction> predicted_;
  uint64_t planned_version_ = 0;
  Instant planned_at_{};
};

}  // namespace synergy
