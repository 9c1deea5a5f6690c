#pragma once

// Rounds on GPUs of several types: a policy of Gavel says which part of its time each job should
// spend on each type (problem.h), the round mechanism which type a job has in this round
// (round_mechanism.h; Gavel, OSDI'20, sections 4 and 5). The simulator and the controller decide by
// this.
//
// A job that runs is not moved for nothing. A *move*, from the type that it runs on to another one,
// pays where it makes more of the next round in spite of what the restart costs:
//
//   T_m,new (round - restart_cost) > T_m,old round
//
// and never under an agnostic policy, for which all types are as one.
// One that does not pay is made only where somebody else needs the place: a job that waits and has
// it in this round, or one whose own move pays.
//
// Under fifo nobody who runs gives way to a job that came later: it keeps its type, or moves to a
// free one where that pays.
//
// The policy is asked again at most every 6.4 rounds, as in the authors' runs (1920 s of 300 s
// each); one that gives whole types whenever jobs come or go.
//
// Times are in seconds; throughputs in any unit that is the job's own, steps in that unit times
// seconds; prices in money per GPU and hour.
//
// Threading: one owner at a time. Pure: the time is handed in.
// Failures: kInvalid for a policy that is not known, and as the policy says (policy.h); what was
// decided before stays then.

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

namespace synergy {

struct TypedJob {
  std::string name;
  double gpus = 1;
  std::vector<double> throughput;    // per type; 0: it does not run there
  std::optional<double> steps_left;  // none: not known; policies that need it refuse
  std::optional<double> deadline;    // from now
  double waited = 0;                 // since the job came
  std::optional<size_t> on;          // the type that it runs on
  bool stays = false;                // it runs, and nobody may move it
};

class TypeRounds {
 public:
  struct Options {
    double round = 360;
    double restart_cost = 0;
  };

  // `types` in the order in which they are gone through: fastest first.
  static Result<TypeRounds> Create(std::string_view policy, std::vector<std::string> types,
                                   const Options& options);

  // Who has which type from now on, type by type. `jobs`: all that are there, in the order of their
  // arrival; those that are not among them any more are gone. `gpus` and `prices` per type; no
  // prices: not known. `begins`: a round does. Else everybody keeps what it was given, and what is
  // free goes to those that have nothing; the policy is asked only if it gives whole types, or was
  // asked about none of them.
  Result<std::vector<GavelPick>> Decide(std::span<const TypedJob> jobs,
                                        const std::vector<double>& gpus,
                                        const std::vector<double>& prices, bool begins, double now);

  // That a job had its GPUs on a type for so long.
  void Book(const std::string& name, size_t type, double seconds);
  void Remove(const std::string& name);

  const TypePolicy& policy() const { return policy_; }
  const std::vector<std::string>& types() const { return types_; }
  // Jobs whose deadlines the policy gave up when it was last asked.
  const std::set<std::string>& missed() const { return missed_; }

 private:
  TypeRounds(TypePolicy policy, std::vector<std::string> types, const Options& options);

  // `jobs` as they are once those that run have moved, by arrival, each to the fastest type that is
  // free and to which the move pays.
  std::vector<TypedJob> MovedUp(std::span<const TypedJob> jobs,
                                const std::vector<double>& gpus) const;
  // As Decide() takes it, without types that have not the GPUs for the job.
  std::vector<double> Usable(const TypedJob& job, const std::vector<double>& gpus) const;
  void Hear(std::span<const TypedJob> jobs, const std::vector<double>& gpus);
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
  // Of the last solve, with what it keeps for the next one of its kind.
  std::unique_ptr<GavelPolicy> gavel_;
  std::string_view program_;
  std::vector<size_t> solved_types_;  // that had GPUs
  std::set<std::string> solved_;      // whom it was about
  std::set<std::string> missed_;
  std::vector<GavelPick> picks_;
};

}  // namespace synergy
