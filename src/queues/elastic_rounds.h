#pragma once

// Rounds of a queue whose jobs are elastic (`policy: optimus`, docs/optimus.md): what is learnt of
// each while it trains, with how many workers each is to run, decided as a round begins
// (elastic.h), and the bands that follow from it (rounds.h):
//
//   runs   who has workers by the last decision; who has come since then and runs beside them
//   next   who runs and is to give way
//   waits  the others. While a job's workers are changed its quota is free for a moment, and
//          whoever takes it then has to give it back: so nobody who has no place waits with more
//          than that
//
// Between rounds nothing is decided anew.
//
// Threading: one owner. Pure: the time is handed in.

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

// Of a workload, beside what rounds know of it.
struct ElasticWorkload {
  // Of the job that it is of: when the number of workers changes, the workload is another one.
  std::string job;
  // Pods; of a job that has one size all of them count as one.
  int workers = 1;
  int least = 1;
  int most = 1;
  // It is not to be changed, though it runs: some of its workers are done.
  bool stays = false;
  std::optional<double> target_loss;
};

// What a training that runs tells, with as many workers as it has.
struct ElasticSight {
  std::optional<double> rate;       // iterations per second
  std::optional<double> iteration;  // that it is at
  std::optional<double> total;      // that it counts to
  std::optional<double> loss;       // at that iteration
};

// Another number of workers.
struct WorkerChange {
  int from = 0;
  int to = 0;
  std::string_view why;  // for people
};

class ElasticRounds {
 public:
  // Within which a decision is carried out, or not at all: it grows old.
  static constexpr Duration kLongest = std::chrono::minutes(1);

  void See(const std::string& job, int workers, const ElasticSight& sight);
  // `workloads` and `elastic` are of the same workloads, in the same order. `begins`: the first
  // decision of a round. A job that is in none of the queues that it is called for is forgotten by
  // Forget().
  RoundDecision Decide(const RoundSettings& settings, Gpus quota,
                       std::span<const RoundWorkload> workloads,
                       std::span<const ElasticWorkload> elastic, bool begins, WallTime now);
  // Of a job that has so many workers now. None: they stay, are changed already, or somebody else
  // has changed them since the decision, which then counts no more.
  std::optional<WorkerChange> ChangeOf(const std::string& job, int workers, WallTime now) const;
  // It is carried out: no other one comes in this round.
  void Changed(const std::string& job);
  // All jobs but these.
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
