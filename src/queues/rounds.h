#pragma once

// Decides in rounds which workloads of a queue with a quota of GPUs run (docs/queues.md). The
// policies of policy/policy.h order the workloads. Rounds turns that order into three bands, so
// that priorities alone can control a queue with its own scheduler (Kueue's ClusterQueue):
//
//   runs   the workloads that fit into the quota and the GPUs that the cohort lends
//          (cohort_quota.h), in the policy's order. A workload that does not fit is passed over.
//          Under fifo it also holds back the workloads that wait behind it; with backfill, it holds
//          back only those that could delay it
//   next   the other running workloads, so that only workloads of the first band can take their
//          place; and the waiting workloads that get GPUs as they become free, for up to another
//          full quota
//   waits  all others
//
// Users' priority classes take precedence over the policy's order. A running workload does not give
// way
//   * if it cannot be suspended, or does not declare that it checkpoints: it then runs to its end
//   * under a policy that does not preempt
//   * during its round, and before it has run for `least_run`
//   * if its remaining time is no longer than a restart takes, or if the cost of its restart puts
//     it ahead of the other workload
//   * under a policy that orders by remaining time, if its own remaining time is unknown and no
//     report of it was refuted
//
// Threading: immutable; any number of threads. Pure: the caller passes and receives the state of a
// workload (RoundService).

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "core/result.h"
#include "core/units.h"
#include "policy/policy.h"
#include "policy/service_queues.h"
#include "queues/cohort_quota.h"

namespace synergy {

inline constexpr std::string_view kBackfillNeedsFifo =
    "backfill: InTime needs policy fifo, without gpuTypes and workers: Elastic";

enum class Band : uint8_t { kWaits, kNext, kRuns };
std::string_view ToString(Band band);

// Whether the policy also chooses the GPU type on which a job has its turn.
enum class GpuTypes : uint8_t {
  kNone,    // no
  kIgnore,  // yes, as if all types were equally fast
  kAware,   // yes, by the speeds of each job
};

struct RoundSettings {
  // A policy of policy/policy.h or, with GPU types, one of gavel/policies/policies.h, whose order
  // the caller passes as RoundWorkload::place.
  std::string policy = "las";
  GpuTypes gpu_types = GpuTypes::kNone;
  bool elastic = false;       // whether jobs' workers change from round to round (elastic_rounds.h)
  ServiceQueues queues;       // for 2d-las and 2d-gittins
  std::vector<double> sizes;  // for 2d-gittins: GPU-seconds of ended jobs
  Duration round = std::chrono::minutes(5);
  Duration least_run = std::chrono::minutes(5);
  Duration restart_cost = std::chrono::minutes(1);
  // Only under fifo: while a workload waits for GPUs, a workload behind it may run if it certainly
  // ends before the first one can start, or if it uses GPUs that the first one will not need.
  bool backfill = false;
};

// How long a workload has waited, by cause (Philly, ATC'19, section 3.1). The times in which it
// starts, ends or is stopped by its user do not count.
struct RoundDelays {
  Seconds fair_share{};     // its queue's quota was used up, or it was not its turn
  Seconds fragmentation{};  // it had its quota, but no node for some of its pods

  bool operator==(const RoundDelays&) const = default;
};

// The service that a workload has received so far. It is preserved across restarts of the workload
// and of this process.
struct RoundService {
  double served = 0;  // GPU-seconds in which its pods ran
  QueuePlace place;   // for policies with queues
  // Its remaining running time, from its own progress; nullopt: unknown.
  std::optional<Seconds> remaining;
  bool refuted = false;  // a report of `remaining` was refuted (planner/workload_ledger.h)
  RoundDelays delays;
  uint32_t lost_turns = 0;
  // The iteration at which it was last suspended; nullopt: unknown, or it has resumed since.
  std::optional<int64_t> left_at;

  bool operator==(const RoundService&) const = default;
};

enum class RoundState : uint8_t {
  kWaits,
  kRuns,    // has its quota, whether or not its pods run yet
  kLeaves,  // its pods are being ended, but it still has the quota
};

struct RoundWorkload {
  std::string name;  // "team/train"; breaks ties
  size_t queue = 0;  // index of its queue among those of the decision
  RoundState state = RoundState::kWaits;
  // Whether it can be suspended and resumes from its checkpoint.
  bool may_lose_turn = false;
  // Whether it is excluded from rounds, because its user stopped it, it is in backoff, or its
  // priority is outside the policy's range. It keeps its present GPUs, and gets no band.
  bool left_alone = false;
  // Whether Kueue did not admit it in its turn although its GPUs were free. While such a workload
  // waits, it gets the band kWaits, so that others go before it.
  bool rests = false;
  Gpus gpus;
  int64_t own_priority = 0;  // the priority of its class
  Band band = Band::kNext;   // its present band
  WallTime created{};
  WallTime started{};  // kRuns: when it got its quota
  RoundService service;
  // The longest time for which it runs once it has its quota; nullopt: no limit.
  std::optional<Duration> longest;
  // With GPU types: the lower place goes first; nullopt: after all workloads that have a place.
  std::optional<double> place;

  bool Rests() const { return rests && state == RoundState::kWaits; }
};

inline constexpr std::string_view kLeftAlone = "its priority is not changed";
inline constexpr std::string_view kRests =
    "Kueue did not admit it in its turn; others go before it";

// A workload's band, and the reason, a text for users.
struct RoundVerdict {
  Band band = Band::kNext;
  std::string_view why;
};

struct RoundDecision {
  std::vector<RoundVerdict> verdicts;  // one per workload; its present band if it is left alone
  std::vector<size_t> order;           // the workloads that are not left alone, kRuns first
};

class Rounds {
 public:
  // Fails with kInvalid for an unknown policy, queue limits that do not ascend, unusable times, or
  // backfill under another policy than fifo.
  static Result<Rounds> Make(RoundSettings settings);

  // Returns the start of the round at `now`. Rounds begin at multiples of their length on the wall
  // clock, so they are the same for every replica.
  WallTime RoundAt(WallTime now) const;

  enum class Doing : uint8_t {
    kRan,       // all its pods ran
    kWaited,    // for its queue's quota, or for its turn
    kUnplaced,  // had its quota, but some pods had no node
    kNeither,
  };
  // Charges the `stretch` of time that ends at `now`, and updates the workload's place in the
  // policy's queues.
  void Charge(RoundService& service, Gpus gpus, WallTime created, Doing doing, Duration stretch,
              WallTime now) const;

  // Charges the GPU-seconds that a workload held until `now` although not all its pods ran.
  void ChargeHeld(RoundService& service, Gpus gpus, WallTime created, double held,
                  WallTime now) const;

  // Decides the bands of all workloads. `begins`: whether this is the first decision of a round. In
  // all other decisions, a workload that has its turn keeps it. But with backfill, a waiting
  // workload keeps its turn only while it would get the turn again. For elastic queues Decide()
  // returns the present bands, because ElasticRounds decides them.
  RoundDecision Decide(const RoundQuotas& quotas, std::span<const RoundWorkload> workloads,
                       bool begins, WallTime now) const;
  // Decides for a single queue that borrows and lends nothing.
  RoundDecision Decide(Gpus quota, std::span<const RoundWorkload> workloads, bool begins,
                       WallTime now) const {
    return Decide(RoundQuotas::Alone(quota), workloads, begins, now);
  }

  // Returns why a workload keeps running, or keeps its turn, for now; empty if it does not.
  std::string_view Keeps(const RoundWorkload& workload, bool begins, WallTime now) const;

  const RoundSettings& settings() const { return settings_; }
  bool IsElastic() const { return settings_.elastic; }

 private:
  struct Entry;
  class Choice;

  Rounds(RoundSettings settings, std::unique_ptr<const Policy> policy);
  Entry Rank(const RoundWorkload& workload, size_t index, bool begins, WallTime now) const;
  // Updates the workload's place in the policy's queues after `time`.
  void ChargePlace(RoundService& service, Gpus gpus, WallTime created, bool ran, Seconds time,
                   WallTime now) const;
  RoundDecision AsTheyAre(std::span<const RoundWorkload> workloads, WallTime now) const;
  // Decides which of the workloads that do not run in this round are next, and which wait.
  void JudgeOthers(const RoundQuotas& quotas, std::span<const RoundWorkload> workloads,
                   std::span<Entry> others, RoundDecision& decision) const;
  Job ToJob(const RoundWorkload& workload) const;

  RoundSettings settings_;
  std::shared_ptr<const Policy> policy_;
  bool by_remaining_;  // the policy orders by remaining time
};

}  // namespace synergy
