#pragma once

// Chooses the GPU type on which each workload has its turn, for RoundPolicies that choose types
// (docs/gavel.md). gavel/type_rounds.h decides, from the speeds of gpu_type_speeds.h.
//
// The users' priority classes go first: each class is divided on its own, among the GPUs that the
// higher classes leave.
//
// Threading: one owner.
// Failures: if something is missing that the policy needs, the error names the field of the
// RoundPolicy, and none of its workloads has a turn.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/clock.h"
#include "core/result.h"
#include "gavel/type_rounds.h"
#include "queues/round_policy.h"
#include "queues/rounds.h"
#include "queues/types/gpu_type_speeds.h"

namespace synergy {

// A workload's present state.
struct TypedWorkload {
  std::shared_ptr<const Workload> object;
  RoundWorkload described;
  std::string on;              // product of its GPUs; empty: it has none
  bool running = false;        // all of its pods run
  std::optional<double> rate;  // iterations per second, from its progress
};

struct GpuTypeTurn {
  std::string product;  // where it has its turn in this round; empty: nowhere
  std::string on;       // where it runs; empty: it does not
  bool stays = false;   // it may not be evicted
  double place = 0;     // RoundWorkload::place
  std::string speeds;   // on each product, for people: "V100 2.0, K80 0.5 (estimate)"
  bool missed = false;  // its deadline cannot be kept
};

class GpuTypePlanner {
 public:
  explicit GpuTypePlanner(GpuTypeSpeeds& speeds) : speeds_(speeds) {}

  void StartOver();

  // Decides for all workloads of a policy's queues. `ours`: the UIDs of their pods.
  Result<> Decide(const RoundPolicy& policy, const Rounds& rounds,
                  std::span<const TypedWorkload> workloads, const std::set<std::string>& ours,
                  bool begins, Moment at);
  // To be called before the policies are decided again. Forgets all decisions, and all policies but
  // those with these UIDs.
  void Keep(const std::set<std::string>& policies);

  // Returns the turn of the workload with this UID; null if there is no decision about it.
  const GpuTypeTurn* Of(const std::string& uid) const;
  const std::map<std::string, ProductGpus>& gpus() const { return gpus_; }

 private:
  struct Divided {
    std::vector<std::string> types;
    std::map<int64_t, TypeRounds, std::greater<>> classes;  // by priority, the highest first
    bool begun = false;
  };
  struct Kept {
    std::optional<double> steps_left;  // in the unit of its speeds times seconds
    std::optional<Instant> looked;
    GpuTypeTurn turn;
    bool decided = false;  // since the last Keep()
  };

  Result<> Divide(const RoundPolicy& policy, const Rounds& rounds,
                  std::span<const TypedWorkload> workloads, const std::set<std::string>& ours,
                  bool begins, Moment at);
  // Returns the products in the order in which they are divided, the fastest first.
  std::vector<std::string> Order(const std::set<std::string>& products) const;
  TypedJob ToJob(const TypedWorkload& workload, const Rounds& rounds,
                 const std::vector<std::string>& types, Moment at, Kept& kept) const;

  GpuTypeSpeeds& speeds_;
  std::map<std::string, Divided> policies_;  // by UID
  std::unordered_map<std::string, Kept> kept_;
  std::map<std::string, ProductGpus> gpus_;
};

}  // namespace synergy
