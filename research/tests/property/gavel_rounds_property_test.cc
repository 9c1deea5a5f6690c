// Tests rounds on several GPU types with random clusters and jobs.

#include <deque>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "policy/policy.h"
#include "research/rounds/gavel_rounds.h"
#include "research/rounds/type_profiles.h"

namespace synergy::testing {
namespace {

std::string AnyOf(std::span<const TypePolicyName> policies) {
  const auto at = *rc::gen::inRange<size_t>(0, policies.size());
  const bool aware = *rc::gen::arbitrary<bool>();
  return std::string(policies[at].name) + (aware ? "" : "-agnostic");
}

// Jobs with profiles for each type.
class TypedJobs {
 public:
  TypedJobs(const TypedServers& servers, bool one_gpu) {
    const int64_t most = servers.server.gpus.count();
    const auto count = *rc::gen::inRange<size_t>(1, 15);
    for (size_t at = 0; at < count; ++at) {
      const Gpus gpus(one_gpu ? 1 : *rc::gen::inRange<int64_t>(1, most + 1));
      const double best = 1 + *rc::gen::inRange(0, 21) / 10.0;
      profiles_.push_back(*Scaled(
          *JobProfile::Create(Gpus(1), {{Cores(3), GB(60), 1}, {Cores(9), GB(60), best}}), gpus));
      Job job;
      job.id = at;
      job.gpus = gpus;
      job.profile = &profiles_.back();
      job.demand = job.profile->Demand(0);
      job.fair_throughput = 1;
      job.arrival = Seconds(*rc::gen::inRange(0, 3000));
      job.ideal = Seconds(*rc::gen::inRange(100, 9000));
      jobs.push_back(job);
      ProfilesOnTypes& types = on_types.emplace_back();
      types.push_back(job.profile);
      while (types.size() < servers.types.size()) {
        const int tenths = *rc::gen::inRange(0, 13);
        if (tenths > 0) profiles_.push_back(OnOtherGpu(*job.profile, tenths / 10.0));
        types.push_back(tenths > 0 ? &profiles_.back() : nullptr);
      }
    }
  }

  std::vector<Job> jobs;
  std::vector<ProfilesOnTypes> on_types;

 private:
  std::deque<JobProfile> profiles_;  // a deque, so that addresses stay valid
};

TypedServers AnyServers(size_t types) {
  TypedServers servers;
  const auto gpus = *rc::gen::inRange<int64_t>(1, 5);
  servers.server = {Gpus(gpus), Cores(3 * gpus), GB(60 * gpus)};
  for (size_t type = 0; type < types; ++type) {
    servers.types.push_back("t" + std::to_string(type));
    servers.counts.push_back(*rc::gen::inRange<size_t>(1, 4));
    servers.costs.push_back(1 + static_cast<double>(types - type));
  }
  return servers;
}

// Checks the invariants in each round.
class CheckedRounds final : public RoundPlanner {
 public:
  CheckedRounds(const TypedServers& servers, GavelRounds& rounds)
      : servers_(servers), rounds_(rounds) {}

  Result<PlannedRound> Decide(std::span<const Job> jobs, std::span<const size_t> places,
                              Seconds now, bool begins) override {
    auto round = rounds_.Decide(jobs, places, now, begins);
    RC_ASSERT(round.has_value());
    std::vector<ResourceVector> used(servers_.All().size());
    for (size_t job = 0; job < jobs.size(); ++job) {
      const std::vector<Share>& shares = round->plan.shares[job];
      Gpus gpus;
      for (const Share& share : shares) {
        used[share.server] += share.amount;
        gpus += share.amount.gpus;
        // All shares are on one type, so the job's time on types is at most that of the round.
        RC_ASSERT(TypeOf(share.server) == TypeOf(shares.front().server));
      }
      RC_ASSERT(shares.empty() || gpus == jobs[job].gpus);
      RC_ASSERT(shares.empty() == (round->speeds[job] <= 0));
    }
    for (const ResourceVector& amount : used) RC_ASSERT(amount.FitsWithin(servers_.server));
    return round;
  }
  bool DecidesAgain(size_t waiting) const override { return rounds_.DecidesAgain(waiting); }
  bool DecidesWithin() const override { return rounds_.DecidesWithin(); }
  void Charge(Job& job, size_t place, Seconds stretch, Seconds now) override {
    rounds_.Charge(job, place, stretch, now);
  }
  void Gone(size_t place) override { rounds_.Gone(place); }

 private:
  size_t TypeOf(ServerIndex server) const {
    size_t type = 0;
    size_t end = servers_.counts[0];
    while (server >= end) end += servers_.counts[++type];
    return type;
  }

  const TypedServers& servers_;
  GavelRounds& rounds_;
};

RC_GTEST_PROP(GavelRoundsProperty, NoServerIsOverAndNoJobIsOnTwoTypesAndAllEnd, ()) {
  const TypedServers servers = AnyServers(*rc::gen::inRange<size_t>(1, 4));
  const TypedJobs jobs(servers, false);
  const std::string mechanism = *rc::gen::element<std::string>("proportional", "burstable-spread",
                                                               "greedy", "tune", "synergy-rounds");
  auto rounds = GavelRounds::Create(servers, jobs.jobs, jobs.on_types,
                                    {.policy = AnyOf(TypePolicyNames()), .mechanism = mechanism});
  RC_ASSERT(rounds.has_value());
  CheckedRounds checked(servers, *rounds);
  const auto run = SimulateRounds(servers.All(), jobs.jobs, checked, {});
  RC_ASSERT(run.has_value());
  for (const JobRun& job : run->jobs) RC_ASSERT(job.finish > job.start);
}

RC_GTEST_PROP(GavelRoundsProperty, OnOneTypeFifoOfJobsOfOneGpuIsFifo, ()) {
  const TypedServers servers = AnyServers(1);
  const TypedJobs jobs(servers, true);
  const std::string mechanism = *rc::gen::element<std::string>("proportional", "synergy-rounds");
  const std::string policy = *rc::gen::element<std::string>("gavel-fifo", "gavel-fifo-agnostic");
  auto rounds =
      GavelRounds::Create(servers, jobs.jobs, jobs.on_types,
                          {.policy = policy, .mechanism = mechanism, .within_rounds = false});
  RC_ASSERT(rounds.has_value());
  const std::vector<Server> all = servers.All();
  const auto typed = SimulateRounds(all, jobs.jobs, *rounds, {});
  Mechanism plain = *MakeMechanism(mechanism);
  const auto fifo = Simulate(all, jobs.jobs, Fifo(), plain, {});
  for (size_t job = 0; job < jobs.jobs.size(); ++job) {
    RC_ASSERT(typed->jobs[job].start == fifo->jobs[job].start);
    RC_ASSERT(typed->jobs[job].finish == fifo->jobs[job].finish);
  }
}

}  // namespace
}  // namespace synergy::testing
