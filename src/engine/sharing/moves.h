#pragma once

// Chooses a running job to move to other GPUs, so that a waiting job fits (migration of Gandiva,
// OSDI'18).
//
// Moves happen only if a job waits although the cluster has enough free GPUs, because they are not
// free on the right nodes. One move makes room for that job, the waiter: the pods of another job
// that checkpoints go to free GPUs elsewhere. The freed room is reserved for the waiter.
//
// A move must gain more than twice its cost, in GPU-seconds. Its cost is the measured time of a
// restart, for all GPUs of the moving job. Its gain is the time that the waiter would wait without
// the move, for all of the waiter's GPUs. Only one move is in progress at a time. A job moves only
// once. After a move, the job's rate over kCompared iterations is compared with its rate before. If
// it is 5 % lower, the workload does not move to such nodes again.
//
// Threading: one owner.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "core/units.h"

namespace synergy {

// A running job.
struct MovableJob {
  std::string name;
  Gpus gpus;  // of all its pods
  bool checkpoints = false;
  std::optional<Duration> restart;  // measured; absent: unknown, so it does not move
};

// A job that waits only for GPUs.
struct MoveWaiter {
  std::string name;
  Gpus gpus;  // of all its pods
  // How long the job would wait without a move, according to the remaining time of running jobs;
  // absent: unknown.
  std::optional<Duration> waits;
};

struct GpuMove {
  std::string job;
  std::vector<std::string> to;  // a node for each of its pods
  std::string waiter;           // the job that gets the freed room

  bool operator==(const GpuMove&) const = default;
};

class GpuMoves {
 public:
  using Arrange = std::function<std::optional<std::vector<std::string>>(const MovableJob& job,
                                                                        const MoveWaiter& waiter)>;

  static constexpr double kLeastGain = 2;   // factor on the cost
  static constexpr double kCompared = 100;  // iterations
  static constexpr double kWorse = 0.95;    // factor on the rate before
  static constexpr size_t kMostAsked = 64;  // moves tried for a waiter in one plan

  // Returns the move to begin now, for the first waiter that a move helps; nullopt if there is
  // none, or a move is in progress. `arrange` returns the node of each of the job's pods once the
  // waiter has its room, or nullopt if the job's move does not help. Plan calls it for the cheapest
  // moves first, at most kMostAsked times for each waiter. REQUIRES: the waiters fit nowhere now.
  std::optional<GpuMove> Plan(std::span<const MovableJob> jobs, std::span<const MoveWaiter> waiters,
                              const Arrange& arrange);
  // Replaces the state by another process's records: jobs that have moved, and placements that were
  // worse. Afterwards, no move is in progress.
  void StartOver(std::set<std::string> moved, std::set<std::pair<std::string, std::string>> worse);

  // Records the end of the job's move: its pods run at their new places, or it was abandoned.
  void OnResult(const std::string& job, bool moved);
  // Records the workload's rate over kCompared iterations after a move, relative to its rate
  // before.
  void OnCompared(const std::string& workload, const std::string& kind, double rate);

  // Returns the placements that were worse: workload and kind of node.
  const std::set<std::pair<std::string, std::string>>& worse() const { return worse_; }
  // Returns how many moves were made.
  uint64_t moves() const { return moves_; }

 private:
  bool MayMove(const MovableJob& job) const;
  // Returns whether the waiter gains enough from the job's move.
  static bool IsWorth(const MovableJob& job, const MoveWaiter& waiter);

  std::optional<std::string> moving_;  // job
  std::set<std::string> moved_;        // jobs
  std::set<std::pair<std::string, std::string>> worse_;
  uint64_t moves_ = 0;
};

}  // namespace synergy
