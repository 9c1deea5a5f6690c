#pragma once

// Rounds in Kueue's ClusterQueues (docs/queues.md): by what the watches report it counts what each
// workload has had, has queues/rounds.h decide whose turn it is, and writes changes of band
// into the workloads' priorities (queues/round_workload.h). Kueue does the rest. Where a policy
// chooses GPU types, type_turns.h gives the order, and type_checks.h carries out on which type it
// is. In queues of the policy optimus elastic_jobs.h decides, and changes the workers of Jobs too.
// Whoever loses its turn is told by an event, and what that has cost it by another one.
//
// What a workload's priority was before, and what it has had, is kept on the Workload itself
// (RoundNote), so that it outlives this process, and is put back when no policy orders its
// queue any more.
//
// Threading: one owner.
// Failures: what cannot be written is tried again with the next step, as it is by then; Kueue goes
// on meanwhile by the priorities that there are. Nothing is written by an old picture: a Workload
// that has changed since it was read refuses. Whoever leads next goes on from the notes; of what a
// workload had since its last note nothing is lost but the time of pods that have ended meanwhile.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

#include "controller/cluster/patch_rate.h"
#include "controller/queues/elastic_jobs.h"
#include "controller/queues/round_queues.h"
#include "controller/queues/type_turns.h"
#include "core/clock.h"
#include "core/log.h"
#include "kube/apis/events.h"
#include "kube/apis/round_api.h"
#include "metrics/round_metrics.h"
#include "profile/pod_progress.h"
#include "queues/elastic_rounds.h"
#include "queues/remaining_belief.h"
#include "queues/round_workload.h"
#include "queues/rounds.h"

namespace synergy::controller {

class RoundsDriver {
 public:
  // Writes of workloads a second: each of a priority has Kueue look at the workload again.
  static constexpr int64_t kWritesPerSecond = 20;

  // How far the pod of that UID is; none: not known.
  using ProgressOf = std::function<std::optional<PodProgress>(const std::string& uid)>;

  // All references outlive this.
  RoundsDriver(const RoundObjects& objects, kube::RoundApi& api, kube::EventRecorder& events,
               ProgressOf progress, ProfileCheckpoints checkpoints, TypeFacts& facts,
               const Clock& clock, Logger& log, metrics::RoundMetrics& metrics);

  // Begins anew, by the notes: to be called on becoming the leader.
  void StartOver();
  // Does what is to be done now: to be called every second while all objects are known.
  void Step(const std::stop_token& stop);

  // On which GPU type whom the last step gave its turn.
  const TypeTurns& turns() const { return turns_; }

 private:
  // What is known of a workload beside what is on it.
  struct Kept {
    RoundService service;
    RemainingBelief belief;
    // The time that it had run when its TrainJob's status last said how long it still needs; none:
    // it did not, or its log does.
    std::optional<Seconds> trainer_told;
    WallTime booked{};                              // until when
    std::optional<Instant> looked;                  // when it was looked at last
    Rounds::Doing doing = Rounds::Doing::kNeither;  // then
    std::optional<int64_t> iteration;               // that its log told last, while it runs
    std::string written;  // the resource version that was last written over
    std::optional<Instant> overlooked_since;
    uint64_t pass = 0;
  };
  struct Pods {
    WorkloadPods counts;
    // By those that run.
    std::optional<Duration> remaining;
    std::optional<int64_t> iteration;
    std::optional<double> began_at;  // the iteration
    ElasticSight sight;
    std::optional<double> rate;     // iterations a second, of all of them together
    std::string node;               // of one of them
    std::vector<std::string> uids;  // of all
  };
  struct Write;

  std::unordered_map<std::string, Pods> CountPods() const;  // by the workload's key
  // What it has waited since the last look; at the first, which somebody else may have booked up to
  // now, nothing.
  RoundDelays Book(const Rounds& rounds, const Workload& workload, const Pods& pods, Moment at);
  // Learns how long one that runs still needs: from its log, else from the status of its TrainJob.
  void HearRemaining(Kept& kept, const Workload& workload, const Pods& pods, WallTime now) const;
  // On which type each workload of a policy that chooses types has its turn, and the order that
  // follows. What is against it becomes the problem of the policy's queues.
  void ChooseTypes(JudgedPolicy& policy, std::map<std::string, RoundQueue>& queues,
                   const std::unordered_map<std::string, Pods>& pods, bool begins, Moment at);
  void DecideQueue(const JudgedPolicy& policy, const std::string& name, RoundQueue& queued,
                   bool begins, WallTime now, RoundPolicyStatus::Queue& status,
                   std::vector<Write>& writes);
  // Whether Kueue has not looked at it for a while in which, with its turn, it could have started.
  bool IsOverlooked(const Workload& workload, bool could_start);
  // Tells what it does again of what it had done before it was suspended, once that is known.
  void TellLoss(const Workload& workload, const Pods& pods);
  bool WantsNote(const Workload& workload) const;
  // That the one at `index` loses its turn, and to whom.
  kube::EventRecord TellLostTurn(const RoundQueue& queued, const RoundDecision& decision,
                                 size_t index, WallTime now) const;
  // Whether all changes of band are written.
  bool Carry(std::vector<Write> writes, const std::stop_token& stop);
  void WriteStatuses(const std::vector<JudgedPolicy>& policies,
                     std::map<std::string, RoundPolicyStatus> statuses,
                     const std::stop_token& stop);

  const RoundObjects& objects_;
  kube::RoundApi& api_;
  kube::EventRecorder& events_;
  const ProgressOf progress_;
  const ProfileCheckpoints checkpoints_;
  const Clock& clock_;
  Logger& log_;
  metrics::RoundMetrics& metrics_;
  TypeFacts& facts_;
  TypeTurns turns_;
  PatchRate rate_{kWritesPerSecond, kWritesPerSecond};
  ElasticJobs elastic_;
  std::unordered_map<std::string, Kept> kept_;     // by UID
  std::map<std::string, WallTime> rounds_;         // of each policy by UID: its round so far
  std::map<std::string, Instant> status_written_;  // likewise
  uint64_t pass_ = 0;
};

}  // namespace synergy::controller
