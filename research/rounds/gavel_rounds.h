#pragma once

// Rounds on servers whose GPUs are of several types: a policy of Gavel decides which part of its
// time each job should spend on each type, the round mechanism which type a job runs on in this
// round (gavel/round_mechanism.h), and Synergy's mechanism, or another one, the servers of that
// type, and the amounts of CPU and memory.
//
// The policy receives a job's speed on a type as the speed at its fair share of a server, in
// seconds of Job::remaining per second. A type with fewer GPUs than a job has does not count for
// the job.
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
  ResourceVector server;           // every server
  std::vector<double> costs;       // per GPU and hour, by type; empty: unknown

  // Returns all servers, those of the first type in front.
  std::vector<Server> All() const;
  Gpus GpusOf(size_t type) const;
};

// Per type; null if the job does not run there. Not owned.
using ProfilesOnTypes = std::vector<const JobProfile*>;

class GavelRounds final : public RoundPlanner {
 public:
  struct Options {
    std::string policy;     // from gavel/policies/policies.h
    std::string mechanism;  // from baseline/mechanisms.h
    Seconds round{300};
    Seconds restart_cost{};  // a change of type has to gain more
    // Free capacity within a round goes to waiting jobs at once, as in a cluster.
    bool within_rounds = true;
  };

  // `jobs` are those of the simulation; `profiles` have the same order. kInvalid for an unknown
  // policy or mechanism, and for a job that runs on no type with enough GPUs for it.
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
  // A job on a type; without a profile it does not run there.
  struct OnType {
    const JobProfile* profile = nullptr;
    ResourceVector demand;
    double fair_throughput = 1;
    double rate = 0;  // at its fair share, in seconds of Job::remaining per second
  };

  GavelRounds(TypedServers servers, TypeRounds rounds, const Options& options);

  size_t TypeOf(ServerIndex server) const;
  Result<std::vector<OnType>> ReadJob(const Job& job, const ProfilesOnTypes& profiles) const;
  // Places the jobs at these positions of `jobs` on a type.
  void Place(size_t type, const std::vector<JobIndex>& picked, std::span<const Job> jobs,
             std::span<const size_t> places, PlannedRound& decision);

  TypedServers servers_;
  std::vector<Server> all_;
  std::vector<size_t> first_;  // first server of each type
  std::string policy_name_;
  bool within_rounds_;
  TypeRounds rounds_;
  std::vector<Mechanism> mechanisms_;          // per type
  std::vector<std::vector<OnType>> on_types_;  // by position in the trace
  std::vector<JobIndex> positions_;            // by position in the trace: that in the last round
};

}  // namespace synergy
