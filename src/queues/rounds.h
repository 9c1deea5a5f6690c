#pragma once

// Who is to run in a queue with a quota of GPUs, round after round (docs/queues.md). The policies
// of policy/policy.h say who goes first; this makes three bands of it, by which somebody else's
// queue (Kueue's ClusterQueue) can be driven through priorities alone:
//
//   runs   those that the quota holds, in the policy's order; one that does not fit is passed over,
//          but under fifo, where it stops those that wait behind it
//   next   whoever runs without being one of them, so that it loses its place to one of the band
//          above alone, and who takes what becomes free: as much as the quota again
//   waits  the others
//
// Classes of priority, which are the user's, go before the policy's order. What runs is not made to
// give way
//   * if it cannot be suspended, or does not say that it checkpoints: it runs to its end
//   * within its round, and before it has run for `least_run`
//   * for less than a restart costs: when it needs no longer than that, or would be ahead of the
//     other one but for that
//   * because nobody knows how long it needs, unless what it told has been refuted
//
// Threading: immutable; any number of threads. Pure: what is kept of a workload (RoundService) is
// handed in and out.

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

namespace synergy {

enum class Band : uint8_t { kWaits, kNext, kRuns };
std::string_view ToString(Band band);

// Whether the policy also chooses the GPU type on which a job has its turn.
enum class GpuTypes : uint8_t {
  kNone,    // it does not
  kIgnore,  // it does, as if all types were equally fast
  kAware,   // it does, by the speeds of each job
};

struct RoundSettings {
  // A policy of policy/policy.h; with GPU types one of gavel/type_policies.h, whose order is handed
  // in as RoundWorkload::place.
  std::string policy = "las";
  GpuTypes gpu_types = GpuTypes::kNone;
  bool elastic = false;  // jobs have more or fewer workers from round to round (elastic_rounds.h)
  ServiceQueues queues;  // of 2d-las and 2d-gittins
  std::vector<double> sizes;  // of 2d-gittins: GPU-seconds of jobs that have ended
  Duration round = std::chrono::minutes(5);
  Duration least_run = std::chrono::minutes(5);
  Duration restart_cost = std::chrono::minutes(1);
};

// How long a workload has waited, by what kept it (Philly, ATC'19, section 3.1). What starts, ends
// or is stopped by its user waits for nothing.
struct RoundDelays {
  Seconds fair_share{};     // its queue's quota was used up, or it was not its turn
  Seconds fragmentation{};  // it had its quota, and its pods found no nodes

  bool operator==(const RoundDelays&) const = default;
};

// What a workload has had; kept over restarts of everything.
struct RoundService {
  double served = 0;  // GPU-seconds in which all of its pods ran
  QueuePlace place;   // of policies with queues
  // How long it would still run, by its own progress; none: not known.
  std::optional<Seconds> remaining;
  bool refuted = false;  // what it tells of that (remaining_belief.h): not known, by its own fault
  RoundDelays delays;
  uint32_t lost_turns = 0;
  // The iteration at which it was last suspended; none: not known, or it has gone on since then.
  std::optional<int64_t> left_at;

  bool operator==(const RoundService&) const = default;
};

enum class RoundState : uint8_t {
  kWaits,
  kRuns,    // has its quota, whether or not its pods run yet
  kLeaves,  // its pods are being ended; the quota is still its own
};

struct RoundWorkload {
  std::string name;  // "team/train": orders those that are equal otherwise
  RoundState state = RoundState::kWaits;
  // It can be suspended, and goes on where it was.
  bool may_lose_turn = false;
  // Stopped by its user, or of a class outside of what the policy may use: it has the GPUs that it
  // runs with, and is given no band.
  bool left_alone = false;
  Gpus gpus;
  int64_t own_priority = 0;  // that of its class
  Band band = Band::kNext;   // which one it has
  WallTime created{};
  WallTime started{};  // kRuns: when it got its quota
  RoundService service;
  // In an order that is given: the lower goes first; none: after all that have one.
  std::optional<double> place;
};

inline constexpr std::string_view kLeftAlone = "it is left alone";

// Why a workload is in its band. Texts are for people.
struct RoundVerdict {
  Band band = Band::kNext;
  std::string_view why;
};

struct RoundDecision {
  std::vector<RoundVerdict> verdicts;  // of each workload; the present band where it is left alone
  std::vector<size_t> order;           // of all that are not left alone: who runs, then the rest
};

class Rounds {
 public:
  // kInvalid: no such policy, queue limits that do not ascend, or times that are no use.
  static Result<Rounds> Make(RoundSettings settings);

  // Rounds begin at multiples of their length by the wall clock, whoever decides.
  WallTime RoundAt(WallTime now) const;

  enum class Doing : uint8_t {
    kRan,       // all of its pods did
    kWaited,    // for its queue's quota, or for its turn
    kUnplaced,  // had its quota, and pods without a node
    kNeither,
  };
  // Books the `stretch` up to `now`, and what that does to its place in queues.
  void Book(RoundService& service, Gpus gpus, WallTime created, Doing doing, Duration stretch,
            WallTime now) const;

  // `begins`: the first decision of a round. In all others, who has its turn keeps it. Of the
  // elastic policy it tells the bands that there are: ElasticRounds decides them.
  RoundDecision Decide(Gpus quota, std::span<const RoundWorkload> workloads, bool begins,
                       WallTime now) const;

  // Why one that runs, or has its turn, keeps it for now; empty: it does not.
  std::string_view Keeps(const RoundWorkload& workload, bool begins, WallTime now) const;

  const RoundSettings& settings() const { return settings_; }
  bool IsElastic() const { return settings_.elastic; }

 private:
  struct Entry;

  Rounds(RoundSettings settings, std::unique_ptr<const Policy> policy);
  Entry Rank(const RoundWorkload& workload, size_t index, bool begins, WallTime now) const;
  RoundDecision AsTheyAre(std::span<const RoundWorkload> workloads, WallTime now) const;
  Job ToJob(const RoundWorkload& workload) const;

  RoundSettings settings_;
  std::shared_ptr<const Policy> policy_;
  bool by_remaining_;  // the policy orders by how long jobs still need
};

}  // namespace synergy
