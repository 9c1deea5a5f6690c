#pragma once

// Rounds of a queue with elastic jobs (`workers: Elastic`, docs/internals/optimus.md). Records the
// reports of each job while it trains, decides at the start of a round how many workers each job
// gets (elastic.h), and derives the bands (rounds.h) from these numbers:
//
//   runs   workloads to which the last decision gave workers, and newer workloads that already run,
//          and fit beside them or cannot be suspended
//   next   running workloads that must give way
//   waits  all others. A waiting workload without a place never has a higher band: while a job's
//          number of workers changes, its quota is free for a moment, and a workload that took this
//          quota would have to give it back
//
// The numbers of workers stay as decided until the next round.
//
// Threading: one owner. Pure: the caller passes the time.

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/clock.h"
#include "core/units.h"
#include "queues/elastic.h"
#include "queues/rounds.h"

namespace synergy {

// The part of a workload that RoundWorkload lacks.
struct ElasticWorkload {
  // UID of the owning job. It is stable, unlike the Workload, which is replaced on every resize.
  std::string job;
  // Number of pods. All pods of a job with a fixed size count as one worker.
  int workers = 1;
  int least = 1;
  int most = 1;
  // The job runs but must not be changed, for example because some of its workers are done.
  bool stays = false;
  bool all_run = false;  // whether all its pods run
  bool capped = false;   // `most` comes from the nodes' room
  std::optional<double> target_loss;
};

// The report of a running training, with its present number of workers.
struct ElasticSight {
  std::optional<double> rate;       // iterations per second
  std::optional<double> iteration;  // the present one
  std::optional<double> total;      // the last one
  std::optional<double> loss;       // at that iteration
};

// A change of the number of workers.
struct WorkerChange {
  int from = 0;
  int to = 0;
  std::string_view why;  // for people
};

class ElasticRounds {
 public:
  // A change that is not carried out within this time is dropped as outdated.
  static constexpr Duration kLongest = std::chrono::minutes(1);

  void See(const std::string& job, int workers, const ElasticSight& sight);
  // Decides the numbers of workers if a round begins, and returns the bands. `begins`: this is the
  // first decision of a round. Jobs are remembered until Forget(). REQUIRES: `workloads` and
  // `elastic` describe the same workloads in the same order.
  RoundDecision Decide(const RoundSettings& settings, Gpus quota,
                       std::span<const RoundWorkload> workloads,
                       std::span<const ElasticWorkload> elastic, bool begins, WallTime now);
  // Returns the due change of a job that has `workers` now. Returns nullopt if its number of
  // workers stays, or has changed since the decision. A change by another client voids the
  // decision.
  std::optional<WorkerChange> ChangeOf(const std::string& job, int workers, WallTime now) const;
  // Marks the job's change as carried out. No other change follows in this round.
  void Changed(const std::string& job);
  // Forgets all jobs except these.
  void Forget(const std::set<std::string>& but);

 private:
  struct Decided {
    int from = 0;
    int to = 0;  // 0: it has no place
    std::string_view why;
    WallTime at{};
    bool changed = false;
  };
  struct Known {
    ElasticRecord record;
    double done = 0;  // iterations
    std::optional<double> total;
    std::optional<Decided> decided;
  };

  ElasticTask ToTask(const RoundSettings& settings, const RoundWorkload& workload,
                     const ElasticWorkload& elastic, WallTime now) const;

  std::unordered_map<std::string, Known> known_;  // by job
};

}  // namespace synergy
