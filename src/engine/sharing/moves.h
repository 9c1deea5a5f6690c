#pragma once

// Chooses a running job to move to other GPUs, so that a waiting one fits or its own pods come
// together (migration of Gandiva, OSDI'18).
//
// Only on demand, and only of jobs that checkpoint:
//
//   for a waiter   a job that waits for more GPUs of one node, or of several, than are free there,
//                  although enough are free in all. One move makes room for it: another job's pods
//                  go to free GPUs elsewhere. The freed room is held for the waiter.
//   together       a job whose pods are on several nodes, for which one node has room.
//
// A move has to gain more than twice what it costs, in GPU-seconds: its cost is the measured time
// of a restart, for all GPUs of the job that moves; its gain is the time that the waiter would wait
// without it, for all of the waiter's GPUs, or what the job gains in the rest of its run. One move
// is under way at a time. A job moves once. After it, its rate over kCompared iterations is
// compared with that before: where it is worse by 5 %, the workload does not move to such nodes
// again.
//
// Threading: one owner.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "core/units.h"

namespace synergy {

struct MoveNode {
  std::string name;
  std::string kind;  // nodes of one kind are alike: product and shape
  Gpus free;         // neither in use nor held
};

// A running job. All of its pods have equally many GPUs.
struct MovableJob {
  std::string name;
  std::string workload;
  Gpus pod_gpus;
  std::vector<std::string> nodes;  // of its pods, one entry for each
  bool checkpoints = false;
  std::optional<Duration> restart;    // measured; none: unknown, and it does not move
  std::optional<Duration> remaining;  // none: unknown
  // Its speed on one node over that where it is; 1 if it is on one, or if that is unknown.
  double faster_together = 1;
};

// A job that waits only for GPUs. All of its pods have equally many, each of one node.
struct MoveWaiter {
  std::string name;
  Gpus pod_gpus;
  size_t pods = 1;
  // How long it would wait otherwise, by what remains of the jobs that run; none: unknown.
  std::optional<Duration> waits;
};

struct GpuMove {
  std::string job;
  std::vector<std::string> to;  // a node for each of its pods
  std::string waiter;           // for which the room is held; empty: the job comes together

  bool operator==(const GpuMove&) const = default;
};

class GpuMoves {
 public:
  static constexpr double kLeastGain = 2;   // times the cost
  static constexpr double kCompared = 100;  // iterations
  static constexpr double kWorse = 0.95;    // of the rate before

  // Returns the move to begin now, for the first waiter for which there is one; nullopt if there is
  // none, or one is under way.
  std::optional<GpuMove> Plan(std::span<const MoveNode> nodes, std::span<const MovableJob> jobs,
                              std::span<const MoveWaiter> waiters);

  // The move of the job has ended: its pods run where they were to go, or it was given up.
  void OnResult(const std::string& job, bool moved);
  // The job's rate over kCompared iterations after its move, over that before it.
  void OnCompared(const std::string& workload, const std::string& kind, double rate);
  // The job is gone.
  void Forget(const std::string& job) { moved_.erase(job); }

  // The placements that were worse: workload and kind of node.
  const std::set<std::pair<std::string, std::string>>& worse() const { return worse_; }
  // Returns the number of moves that were made.
  uint64_t moves() const { return moves_; }

 private:
  using Free = std::map<std::string, int64_t>;  // GPUs by node

  bool MayMove(const MovableJob& job) const;
  std::optional<GpuMove> ForWaiter(std::span<const MoveNode> nodes,
                                   std::span<const MovableJob> jobs,
                                   const MoveWaiter& waiter) const;
  std::optional<GpuMove> Together(std::span<const MoveNode> nodes,
                                  std::span<const MovableJob> jobs) const;

  std::optional<std::string> moving_;  // job
  std::set<std::string> moved_;        // jobs
  std::set<std::pair<std::string, std::string>> worse_;
  uint64_t moves_ = 0;
};

}  // namespace synergy
