#pragma once

// Plans rounds on servers with GPUs of several types. A policy of Gavel decides which fraction of
// its time each job should spend on each type. The round mechanism decides on which type a job runs
// in this round (gavel/round_mechanism.h). Synergy's mechanism, or another one, decides on which
// servers of that type, and with how much CPU and memory.
//
// For the policy, a job's speed on a type is that at its fair share of a server, in seconds of
// Job::remaining per second. A type that has fewer GPUs than a job needs does not count for the
// job.
//
// Threading: one owner.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"
#include "gavel/type_rounds.h"
#include "policy/job.h"
#include "research/baseline/mechanisms.h"
#include "research/rounds/simulator.h"

namespace synergy {

struct TypedServers {
  std::vector<std::string> types;  // fastest first
  std::vector<size_t> counts;      // servers of each type
  ResourceVector server;           // size of every server
  std::vector<double> costs;       // per GPU and hour, for each type; empty if unknown

  // Returns all servers, those of the first type first.
  std::vector<Server> All() const;
  Gpus GpusOf(size_t type) const;
};

// A job's profile for each type; null if the job does not run on that type. Not owned.
using ProfilesOnTypes = std::vector<const JobProfile*>;

class GavelRounds final : public RoundPlanner {
 public:
  struct Options {
    std::string policy;     // a name in gavel/policies/policies.h
    std::string mechanism;  // a name in baseline/mechanisms.h
    Seconds round{300};
    Seconds restart_cost{};  // the least gain of a change of type
    // Capacity that becomes free within a round goes to waiting jobs at once, as in a cluster.
    bool within_rounds = true;
  };

  // `jobs` are those of the simulation; `profiles` are in the same order. Returns kInvalid for an
  // unknown policy or mechanism, and for a job that runs on no type with enough GPUs for it.
  static Result<GavelRounds> Create(TypedServers servers, std::span<const Job> jobs,
                                    std::span<const ProfilesOnTypes> profiles,
                                    const Options& options);

  Result<PlannedRound> Decide(std::span<const Job> jobs, std::span<const size_t> places,
                              Seconds now, bool begins) override;
  bool DecidesAgain(size_t waiting) const override;
  bool DecidesWithin() const override { return within_rounds_; }
  void Charge(Job& job, size_t place, Seconds stretch, Seconds now) override;
  void Gone(size_t place) override;

 private:
  // A job on a type. A job without a profile for the type does not run on it.
  struct OnType {
    const JobProfile* profile = nullptr;
    ResourceVector demand;
    double fair_throughput = 1;
    double rate = 0;  // speed at its fair share, in seconds of Job::remaining per second
  };

  GavelRounds(TypedServers servers, TypeRounds rounds, const Options& options);

  size_t TypeOf(ServerIndex server) const;
  Result<std::vector<OnType>> ReadJob(const Job& job, const ProfilesOnTypes& profiles) const;
  // Places the jobs at these positions in `jobs` on a type.
  void Place(size_t type, const std::vector<JobIndex>& picked, std::span<const Job> jobs,
             std::span<const size_t> places, PlannedRound& decision);

  TypedServers servers_;
  std::vector<Server> all_;
  std::vector<size_t> first_;  // first server of each type
  std::string policy_name_;
  bool within_rounds_;
  TypeRounds rounds_;
  std::vector<Mechanism> mechanisms_;          // for each type
  std::vector<std::vector<OnType>> on_types_;  // by position in the trace
  // by position in the trace: the position in the last round
  std::vector<JobIndex> positions_;
};

}  // namespace synergy
