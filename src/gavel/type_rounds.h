#pragma once

// Rounds on GPUs of several types. A policy of Gavel decides the fraction of its time that each job
// should spend on each type (problem.h), and the round mechanism decides which type a job has in
// this round (round_mechanism.h; Gavel, OSDI'20, sections 4 and 5). Both the simulator and the
// controller use this.
//
// Running jobs do not move without need. A *move*, from the job's present type to another, pays if
// the job makes more progress in the next round despite the cost of the restart:
//
//   T_m,new (round - restart_cost) > T_m,old round
//
// A move never pays under an agnostic policy, which treats all types as alike. A move that does not
// pay happens only if another job needs the place: a waiting job that gets it in this round, or a
// job whose own move pays.
//
// Under fifo no running job makes way for a later one: it keeps its type, or moves to a free one if
// that pays.
//
// The policy is asked again at most every 6.4 rounds, as in the authors' runs (1920 s with rounds
// of 300 s); a policy that gives whole types is asked whenever jobs arrive or end.
//
// Times are in seconds, throughputs in any unit that the job chooses, steps in that unit times
// seconds, and prices in money per GPU and hour.
//
// Threading: one owner at a time. Pure: the caller passes the time. Failures: kInvalid for an
// unknown policy, and those of the policy (policies/policies.h); earlier decisions then stay in
// force.

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "gavel/policies/policies.h"
#include "gavel/round_mechanism.h"
#include "gavel/type_policies.h"

namespace synergy {

struct TypedJob {
  std::string name;
  double gpus = 1;
  std::vector<double> throughput;    // per type; 0: the job does not run there
  std::optional<double> steps_left;  // absent: unknown; policies that need it fail
  std::optional<double> deadline;    // from now
  double waited = 0;                 // since the job arrived
  std::optional<size_t> on;          // the type of a running job
  bool stays = false;                // the job runs and must not be moved
};

class TypeRounds {
 public:
  struct Options {
    double round = 360;
    double restart_cost = 0;
    GavelPolicyMaker make = nullptr;  // REQUIRES: not null
  };

  // `types`: fastest first; rounds visit them in this order.
  static Result<TypeRounds> Create(std::string_view policy, std::vector<std::string> types,
                                   const Options& options);

  // Returns the jobs that have GPUs from now on, by type. `jobs`: all present jobs, in order of
  // arrival; jobs that it omits have ended. `gpus` and `prices` are per type; empty prices are
  // unknown. `begins`: whether a round begins. If not, every job keeps the type of the previous
  // decision, or, in the first decision, the type on which it runs; free GPUs go to jobs without
  // any. The policy is then asked only if it gives whole types, or if its last answer includes none
  // of these jobs.
  Result<std::vector<GavelPick>> Decide(std::span<const TypedJob> jobs,
                                        const std::vector<double>& gpus,
                                        const std::vector<double>& prices, bool begins, double now);

  // Records that a job had its GPUs on a type for `seconds`.
  void Charge(const std::string& name, size_t type, double seconds);
  void Remove(const std::string& name);
  // Sets the cost of a restart for later decisions.
  void SetRestartCost(double seconds) { options_.restart_cost = seconds; }

  const TypePolicy& policy() const { return policy_; }
  const std::vector<std::string>& types() const { return types_; }
  // Returns the jobs whose deadlines the policy gave up in its last answer.
  const std::set<std::string>& missed() const { return missed_; }

 private:
  TypeRounds(TypePolicy policy, std::vector<std::string> types, const Options& options);

  // Returns `jobs` after the moves of running ones: in order of arrival, each moves to the fastest
  // free type for which the move pays.
  std::vector<TypedJob> MovedUp(std::span<const TypedJob> jobs,
                                const std::vector<double>& gpus) const;
  // Returns the throughputs that Decide() uses, without types that have too few GPUs for the job.
  std::vector<double> Usable(const TypedJob& job, const std::vector<double>& gpus) const;
  void Update(std::span<const TypedJob> jobs, const std::vector<double>& gpus);
  Result<> Solve(std::span<const TypedJob> jobs, const std::vector<double>& gpus,
                 const std::vector<double>& prices, double now);
  bool Pays(const TypedJob& job, size_t to) const;
  std::vector<GavelPick> Pick(std::span<const TypedJob> jobs, const std::vector<double>& gpus,
                              bool begins) const;

  TypePolicy policy_;
  std::vector<std::string> types_;
  Options options_;
  RoundMechanism rounds_;
  std::set<std::string> known_;
  // The policy of the last solve, with its state for the next solve of its kind.
  std::unique_ptr<GavelPolicy> gavel_;
  std::string_view program_;
  std::vector<size_t> solved_types_;  // types with GPUs
  std::set<std::string> solved_;      // the jobs of the last solve
  std::set<std::string> missed_;
  bool decided_ = false;
  std::vector<GavelPick> picks_;
};

}  // namespace synergy
