#pragma once

// Simulates the product on a cluster, event by event (product_simulator.h).
//
//   product_simulation.cc  the set-up, and the loop: events, then their immediate consequences
//   jobs.cc                jobs arrive, get pods, run, fail and end
//   places.cc              pods get nodes and amounts
//   losses.cc              pods lose their nodes; pods without GPUs come and go
//
// Threading: one owner.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "admission/admission.h"
#include "queues/types/gpu_type_planner.h"
#include "queues/types/gpu_type_speeds.h"
#include "sim/cluster/drivers/moves_driver.h"
#include "sim/cluster/drivers/preemption_driver.h"
#include "sim/cluster/drivers/profiling_driver.h"
#include "sim/cluster/drivers/reservation_driver.h"
#include "sim/cluster/drivers/tuner_driver.h"
#include "sim/cluster/job_pods.h"
#include "sim/cluster/job_progress.h"
#include "sim/cluster/product/cluster_use.h"
#include "sim/cluster/product/event_queue.h"
#include "sim/cluster/product_simulator.h"
#include "sim/cluster/simulated_kubelet.h"
#include "sim/cluster/simulated_pods.h"
#include "sim/cluster/simulated_scheduler.h"

namespace synergy {

class ProductSimulation {
 public:
  // All but the cluster must outlive this object. REQUIRES: CheckSimulation() finds nothing.
  ProductSimulation(const StartingCluster& cluster, std::span<const ProductJob> jobs,
                    const ModelProfiles& profiles, const ProductOptions& options,
                    const Progress& progress, ProductObserver* observer);
  Result<SimulationRun> Run();

 private:
  struct JobState {
    std::vector<std::string> pods;
    std::vector<uint32_t> missing = {};                // ordinals of lost pods to be replaced
    std::string gpu_product = {};                      // selected by its pods; empty: any
    uint32_t runs = 0;                                 // that began, including the present one
    uint32_t started = 0;                              // number of pods
    bool goes = false;                                 // all its pods run
    Instant trains_from = {};                          // if it goes
    std::optional<Instant> runs_since = std::nullopt;  // absent: not all its pods run
    Gpus held = {};                                    // GPUs of its pods that have nodes
    Instant held_since = {};                           // `held` was the same since then
    bool broken = false;                               // a node with one of its pods is lost
    int64_t workers = 0;                               // in its next run; 0: as in the trace
    std::optional<Instant> kept_since = std::nullopt;  // since when it waits for a better place
    // For jobs that fail: when the attempt fails, and when the next one begins; the work left when
    // the present attempt began; the nodes that it avoids, and until when.
    std::optional<Instant> fails_at = std::nullopt;
    std::optional<Instant> retry_at = std::nullopt;
    Seconds work_left = {};
    std::vector<std::string> avoids = {};
    Instant avoids_until = {};
  };
  struct Owner {
    size_t job = 0;
    uint32_t ordinal = 0;
  };

  // The same value as in the extender's configuration.
  static constexpr Duration kReplacementHold = std::chrono::seconds(60);
  // Simulated time begins here.
  static constexpr Duration kBeginning = std::chrono::hours(1);

  bool InTrace(size_t job) const { return job < trace_.size(); }
  bool IsMeasured(const std::string& uid) const {
    const auto owner = owners_.find(uid);
    return owner != owners_.end() && InTrace(owner->second.job);
  }
  Moment present() const { return {now_, clocks_ + (now_.time_since_epoch() - kBeginning)}; }
  Seconds ToSeconds(Instant at) const {
    return run_.begin + Seconds(at.time_since_epoch() - kBeginning);
  }
  Instant ToInstant(Seconds at) const {
    const double since = (at - run_.begin).count();
    return Instant(kBeginning +
                   Duration(std::llround(since * static_cast<double>(Duration::period::den))));
  }
  void Plan(Duration after, EventKind kind, std::string uid) {
    events_.Add({.at = now_ + after, .kind = kind, .uid = std::move(uid)});
  }
  void PlanOf(size_t job, Duration after, EventKind kind) {
    events_.Add({.at = now_ + after, .kind = kind, .job = job});
  }
  bool HasModelProfiles() const {
    return !options_.live_profiles && profiles_due_ == Instant::max();
  }
  std::string NameOf(size_t job) const { return fmt::format("job-{}", trace_[job].id); }
  Gpus MostPodGpus() const {
    return std::min(largest_gpus_, options_.pod_gpus.value_or(largest_gpus_));
  }
  // Returns the number of pods that the job has in the trace.
  int64_t PodCountOf(size_t job) const { return PodCount(trace_[job].gpus, MostPodGpus()); }
  bool IsCpuPod(const std::string& uid) const {
    return cpu_pods_ && cpu_pods_->uids().contains(uid);
  }
  bool ChoosesTypes() const {
    return options_.queue && options_.queue->rounds.gpu_types != GpuTypes::kNone;
  }
  // Returns whether places of lost gang members are reserved for their replacements.
  bool HasVacancies() const {
    return !options_.baseline &&
           (options_.faults.node_lost > 0 || options_.failures || HasPriorities());
  }
  bool HasPriorities() const {
    return std::any_of(trace_.begin(), trace_.end(),
                       [](const ProductJob& job) { return job.priority != 0; });
  }
  void PutNode(const Node& node) {
    state_.UpsertNode(node);
    if (&controllers_ != &state_) controllers_.UpsertNode(node);
  }

  void SetUp(const StartingCluster& cluster);
  void AddNode(Node node);
  // `at`: the wall time to which the pod's times refer.
  void AddPod(const Pod& pod, WallTime at);
  void SetUpScheduler();
  // `running`: the pods of the starting cluster.
  void SetUpQueue(const std::vector<Pod>& running);
  void SetUpController();
  void SetUpSharing();
  void SetUpMoves();
  void SetUpTypes();
  std::optional<Duration> RemainingOf(const std::string& uid) const;
  // Returns how the pod's job trains, for moves; nullopt unless all its pods run.
  std::optional<MovesDriver::Training> TrainingOf(const std::string& uid) const;
  // Returns whether the node, in that state, certainly has shared GPUs for the pod.
  bool HasSharedPlace(const Pod& pod, const NodeState& node) const;
  // Returns the progress that the pod's training logs.
  PodProgress LogOf(const std::string& uid) const;
  // Returns whether the remaining jobs can never run, because pods that run forever have the
  // resources that they need.
  bool Hopeless() const;
  // Registers a pod of the starting cluster as a separate job, after those of the trace.
  void Own(const Pod& pod, Seconds remaining);
  // Resumes a pod of the starting cluster where it is.
  void GoOn(const SimulatedPod& pod);
  Instant NextTime() const;
  tl::unexpected<Error> Stuck() const;
  // Publishes the true profiles to the product (ProductOptions::profiles_after).
  void PublishTruth();
  void Handle(const Event& event);
  // Runs all immediate consequences of the last event.
  void Settle();
  void Tune();
  void PlanReservationsNow();
  // Counts the allocations until then.
  void Account(Instant until) { use_.Account(until, pods_.counted(), scheduler_.kept_waiting()); }
  // Sets the end of the run, until a later call, and its means.
  void EndAt(Seconds at) {
    run_.end = at;
    use_.SetMeans(run_);
  }
  // Adds a point to the timeline.
  void Draw();

  SharedGpus::Pod SharedPodOf(size_t job) const;
  // Returns whether the job's number of pods may change.
  bool IsElastic(size_t job) const;
  // Returns how much faster the job is with `workers` pods than with its own number.
  double FactorOf(size_t job, int64_t workers) const;
  Result<> Arrive();
  // Creates and deletes pods as Kueue requires.
  Result<> RunQueue();
  // Ends a job's pods. The job keeps its progress.
  void Interrupt(size_t index);
  // Stops creating pods for the job.
  void StopRetries(size_t index);
  void Suspend(size_t index);
  Result<> MakePodsAgain();
  // Creates the job's pods, or those that are missing; defers that while no GPUs are known to be
  // free for them.
  Result<> MakePods(size_t index);
  // Returns the true slowdown of the model, whether or not the product knows it.
  SpreadCost SpreadOf(const std::string& model) const;
  // Retries deferred jobs: a pod that Synergy does not manage may have freed GPUs.
  Result<> MakeLatePods();
  void RunPod(const SimulatedPod& pod);
  // Counts the time that the job ran until now.
  void StopCountingRun(size_t index);
  // Counts the time of the GPUs that the job held until now; it holds that many from now on.
  void Hold(size_t index, Gpus gpus);
  // Deletes a job's pods, including those that wait or are being bound. `end`: ends the job's
  // progress while its pods are still in place.
  void EndPods(size_t index, const std::function<void()>& end);
  void RunAttempt(size_t index);
  void PauseAttempt(size_t index);
  void FailAttempt(size_t index);
  // Ends a job that has failed permanently. `end`: as in EndPods().
  void GiveUp(size_t index, const std::function<void()>& end);
  void Finish(size_t index);
  // Records that the job's pods are gone permanently.
  void Leave(size_t index);

  void Attempt();
  void MarkUnschedulable(const std::string& uid);
  void NoteLocality(const SimulatedScheduler::Attempt& attempt);
  void Bind(const std::string& uid);
  // Returns whether the node's kubelet has room for all pods that are bound to it.
  bool AdmitsAll(const std::string& name) const;
  // Makes the kubelet fail the pod (OutOfcpu, OutOfmemory), because pods of two schedulers, or a
  // pod and a resize, collided. The pod's owner creates another one; a job restarts as a whole.
  void Refuse(const std::string& uid);
  void Resize(const std::string& uid);
  void Note(PlaceChange::Kind kind, const SimulatedPod& pod, const ResourceVector& amounts);
  static void AddPlace(JobPlace& place, const std::string& node, const ResourceVector& amounts);

  bool HasPodOn(const JobState& job, const std::string& node) const;
  // Stops trainings with a pod on the node, to which no pod can go any more.
  void LoseNode(const std::string& name);
  // Lets the controllers of jobs replace the pods that were there. The jobs continue from their
  // checkpoints.
  void DeletePodsOf(const std::string& node);
  void ReplaceLater(size_t index);
  // Evicts the pods, which have written checkpoints and end at once.
  void Evict(const std::vector<std::shared_ptr<const Pod>>& pods);
  // Returns whether some of the job's pods run on nodes that are not lost, and stay there while
  // `lost` are replaced.
  bool OthersStay(const JobState& job, const std::vector<std::string>& lost) const;
  // Returns whether the pod's container runs, on a node that is not lost.
  bool HasStarted(const std::string& uid) const;
  // Deletes bound pods of a gang while others of it stay. MakePods() makes their replacements.
  void LoseMembers(size_t index, const std::vector<std::string>& lost);
  void CreateCpuPod();
  // REQUIRES: it has a node.
  void RemoveCpuPod(const std::string& uid);
  void ReturnNode(const std::string& name);

  std::span<const ProductJob> trace_;
  const ModelProfiles& profiles_;
  const ProductOptions& options_;
  const Progress& progress_;
  ProductObserver* const observer_;

  ClusterState state_;  // the extender's, with places of lost gang members
  // The view of the controller and of admission if members can be lost; otherwise that is `state_`.
  ClusterState of_controllers_;
  ClusterState& controllers_;
  ModelProfiles published_;                // profiles made known during the run
  const ModelProfiles& product_profiles_;  // the profiles that admission and the tuner use
  SimulatedSurroundings surroundings_;
  const WallTime clocks_;  // wall time at the beginning
  AdmissionSettings admission_;
  Faults faults_;
  std::optional<CpuPods> cpu_pods_;
  std::optional<FailingJobs> failures_;
  SimulatedScheduler scheduler_;
  SimulatedPods pods_;
  SimulatedKubelet kubelet_;
  JobProgress running_;
  std::optional<SimulatedStorage> storage_;
  std::optional<TunerDriver> tuner_;
  std::optional<ProfilingDriver> profiling_;
  std::optional<PreemptionDriver> preemption_;
  std::optional<ReservationDriver> reservations_;
  std::optional<MovesDriver> moves_;
  std::optional<ProfilesOnProducts> on_products_;  // with types_: for policies of GPU types
  std::optional<GpuTypeSpeeds> type_speeds_;
  std::optional<GpuTypePlanner> types_;
  std::optional<QueueDriver> queue_;
  std::optional<SharedGpus> sharing_;

  ClusterUse use_{Instant(kBeginning)};
  Gpus largest_gpus_;                    // on one node
  std::map<std::string, Gpus> gpus_of_;  // by product
  std::unordered_map<std::string, Node> nodes_;
  std::set<std::string> lost_;                       // nodes
  std::vector<size_t> arrivals_;                     // indexes of the trace's jobs by arrival
  std::unordered_map<std::string, size_t> by_name_;  // the trace's jobs, if they queue
  std::vector<JobState> jobs_;                       // those of the trace, then the starting pods
  std::unordered_map<std::string, Owner> owners_;    // by pod
  std::unordered_map<std::string, Pod> planned_;     // pods being bound
  EventQueue events_;
  Instant now_{};
  Instant tidied_{};
  Instant profiles_due_ = Instant::max();
  Instant tuner_due_ = Instant::max();  // when the tuner runs for unread writes
  uint64_t tuner_observed_ = 0;         // number of writes that the tuner has read
  Instant progressed_{};                // when a job last arrived, started or ended
  size_t going_ = 0;                    // running jobs, including the starting pods
  std::vector<size_t> without_pods_;    // jobs that have arrived, but wait for known GPUs
  std::vector<size_t> again_;           // jobs whose pods must be created again
  bool more_gpus_ = false;              // GPUs may be known now that were unknown at the last retry
  bool scheduling_ = false;             // an attempt is in progress
  size_t next_arrival_ = 0;
  size_t arrived_ = 0;
  size_t running_jobs_ = 0;
  size_t finished_ = 0;
  SimulationRun run_;
};

}  // namespace synergy
