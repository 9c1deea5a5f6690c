// Tests the invariants of every mechanism with random clusters and jobs.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "research/baseline/mechanisms.h"
#include "research/baseline/opt.h"
#include "research/baseline/round.h"

namespace synergy::testing {
namespace {

// A few profiles for each number of GPUs, from insensitive to very sensitive.
class Profiles {
 public:
  Profiles() {
    const auto add = [&](std::vector<JobProfile::Point> points) {
      const JobProfile one = *JobProfile::Create(Gpus(1), std::move(points));
      for (const int64_t gpus : {1, 2, 4, 8}) {
        all_.push_back(gpus == 1 ? one : *Scaled(one, Gpus(gpus)));
      }
    };
    add({{Cores(1), GB(20), 1}, {Cores(24), GB(250), 1}});
    add({{Cores(1), GB(60), 0.4}, {Cores(3), GB(60), 1}, {Cores(12), GB(60), 2.4}});
    add({{Cores(1), GB(60), 0.5},
         {Cores(3), GB(60), 1},
         {Cores(6), GB(60), 1.2},
         {Cores(3), GB(180), 1},
         {Cores(6), GB(180), 2.5}});
    add({{Cores(1), GB(20), 0.3}, {Cores(3), GB(62), 1}});
  }
  const std::vector<JobProfile>& all() const { return all_; }

 private:
  std::vector<JobProfile> all_;
};

const Profiles& AllProfiles() {
  static const Profiles profiles;
  return profiles;
}

std::vector<Server> RandomServers() {
  std::vector<Server> servers(*rc::gen::inRange<size_t>(1, 7));
  const bool alike = *rc::gen::arbitrary<bool>();
  for (Server& server : servers) {
    const int64_t gpus = alike ? 8 : *rc::gen::element(2, 4, 8);
    server.capacity = {Gpus(gpus), Cores(3 * gpus), GB(63 * gpus)};
  }
  return servers;
}

std::vector<Job> RandomJobs(size_t most) {
  std::vector<Job> jobs(*rc::gen::inRange<size_t>(0, most));
  for (size_t at = 0; at < jobs.size(); ++at) {
    Job& job = jobs[at];
    job.id = at;
    const std::vector<JobProfile>& profiles = AllProfiles().all();
    job.profile = &profiles[*rc::gen::inRange<size_t>(0, profiles.size())];
    job.gpus = job.profile->gpus();
    job.demand = job.profile->Demand(0);
    job.fair_throughput =
        job.profile->ThroughputAt(Cores(3 * job.gpus.count()), GB(63 * job.gpus.count()));
    job.arrival = Seconds(static_cast<double>(at));
    job.ideal = job.remaining = Seconds(1000.0 + static_cast<double>(*rc::gen::inRange(0, 9000)));
  }
  return jobs;
}

std::vector<JobIndex> InOrder(const std::vector<Job>& jobs) {
  std::vector<JobIndex> order(jobs.size());
  std::iota(order.begin(), order.end(), JobIndex{0});
  return order;
}

// Only the number of nodes is limited: the result of a search within a second depends on the
// machine's load.
constexpr OptOptions kWithoutClock{.time = std::chrono::hours(1)};

Plan PlanWith(const std::string& mechanism, const std::vector<Server>& servers,
              const std::vector<Job>& jobs) {
  if (mechanism == "opt") return MakeOpt(kWithoutClock)->Allocate(servers, jobs, InOrder(jobs));
  return MakeMechanism(mechanism)->allocator->Allocate(servers, jobs, InOrder(jobs));
}

void CheckCapacity(const std::vector<Server>& servers, const std::vector<Job>& jobs,
                   const Plan& plan) {
  std::vector<ResourceVector> used(servers.size());
  for (JobIndex job = 0; job < jobs.size(); ++job) {
    Gpus gpus;
    for (const Share& share : plan.shares[job]) {
      used[share.server] += share.amount;
      gpus += share.amount.gpus;
    }
    RC_ASSERT(plan.shares[job].empty() || gpus == jobs[job].gpus);
    RC_ASSERT(plan.shares[job].empty() == (plan.reasons[job] != Unplaced::kPlaced));
  }
  for (size_t server = 0; server < servers.size(); ++server) {
    RC_ASSERT(used[server].gpus <= servers[server].capacity.gpus);
    RC_ASSERT(used[server].cpu <= servers[server].capacity.cpu);
    RC_ASSERT(used[server].memory <= servers[server].capacity.memory);
  }
}

double Total(const std::vector<Server>& servers, const std::vector<Job>& jobs, const Plan& plan) {
  const std::vector<double> speeds = Speeds(servers, jobs, plan, Enforcement::kStrict);
  double total = 0;
  for (size_t job = 0; job < jobs.size(); ++job) {
    total += speeds[job] * static_cast<double>(jobs[job].gpus.count());
  }
  return total;
}

RC_GTEST_PROP(MechanismProperty, NoServerIsOverCapacityAndGpuCountsAreExact, ()) {
  const std::vector<Server> servers = RandomServers();
  std::vector<Job> jobs = RandomJobs(40);
  for (const MechanismName& mechanism : MechanismNames()) {
    const Plan plan = PlanWith(std::string(mechanism.name), servers, jobs);
    CheckCapacity(servers, jobs, plan);
  }
}

RC_GTEST_PROP(MechanismProperty, PlansStayWithinCapacityRoundAfterRound, ()) {
  const std::vector<Server> servers = RandomServers();
  const std::string name(
      MechanismNames()[*rc::gen::inRange<size_t>(0, MechanismNames().size())].name);
  auto mechanism = MakeMechanism(name);
  std::vector<Job> jobs = RandomJobs(30);
  for (int round = 0; round < 6; ++round) {
    Plan plan = mechanism->allocator->Allocate(servers, jobs, InOrder(jobs));
    CheckCapacity(servers, jobs, plan);
    for (JobIndex job = 0; job < jobs.size(); ++job) {
      // A job that continues has to keep its servers.
      if (jobs[job].Runs() && !plan.shares[job].empty()) {
        RC_ASSERT(plan.shares[job].size() == jobs[job].holds.size());
        for (size_t share = 0; share < plan.shares[job].size(); ++share) {
          RC_ASSERT(plan.shares[job][share].server == jobs[job].holds[share].server);
        }
      }
      jobs[job].holds = plan.shares[job];
    }
    // Some jobs end, others arrive.
    std::erase_if(jobs, [](const Job&) { return *rc::gen::inRange(0, 3) == 0; });
    for (Job& job : RandomJobs(6)) jobs.push_back(std::move(job));
    for (size_t at = 0; at < jobs.size(); ++at) jobs[at].id = at;
  }
}

RC_GTEST_PROP(MechanismProperty, EveryRunnableJobRunsUnderTuneWhereServersAreInProportion, ()) {
  const std::vector<Server> servers = RandomServers();
  const std::vector<Job> jobs = RandomJobs(40);
  const std::vector<JobIndex> runnable = Runnable(servers, jobs, InOrder(jobs));
  for (const char* mechanism :
       {"tune", "opt", "synergy-rounds", "proportional", "burstable-spread"}) {
    const Plan plan = PlanWith(mechanism, servers, jobs);
    size_t running = 0;
    for (const auto& shares : plan.shares) running += !shares.empty();
    RC_ASSERT(running == runnable.size());
    for (const JobIndex job : runnable) RC_ASSERT(!plan.shares[job].empty());
  }
}

RC_GTEST_PROP(MechanismProperty, NoJobIsSlowerThanWithItsFairShare, ()) {
  const std::vector<Server> servers = RandomServers();
  const std::vector<Job> jobs = RandomJobs(40);
  for (const char* mechanism : {"tune", "opt", "synergy-rounds", "synergy-rounds-strict"}) {
    const Plan plan = PlanWith(mechanism, servers, jobs);
    const std::vector<double> speeds = Speeds(servers, jobs, plan, Enforcement::kStrict);
    for (JobIndex job = 0; job < jobs.size(); ++job) {
      if (!plan.shares[job].empty()) RC_ASSERT(speeds[job] >= 1 - 1e-6);
    }
  }
}

RC_GTEST_PROP(MechanismProperty, OurMechanismIsNoWorseThanProportional, ()) {
  const std::vector<Server> servers = RandomServers();
  const std::vector<Job> jobs = RandomJobs(40);
  const double proportional = Total(servers, jobs, PlanWith("proportional", servers, jobs));
  RC_ASSERT(Total(servers, jobs, PlanWith("tune", servers, jobs)) >= proportional - 1e-6);
  RC_ASSERT(Total(servers, jobs, PlanWith("synergy-rounds", servers, jobs)) >= proportional - 1e-6);
}

RC_GTEST_PROP(MechanismProperty, SharingCpuSlowsNoJobDown, ()) {
  const std::vector<Server> servers = RandomServers();
  const std::vector<Job> jobs = RandomJobs(40);
  const Plan plan = PlanWith("synergy-rounds", servers, jobs);
  const std::vector<double> strict = Speeds(servers, jobs, plan, Enforcement::kStrict);
  const std::vector<double> shared = Speeds(servers, jobs, plan, Enforcement::kShared);
  for (size_t job = 0; job < jobs.size(); ++job) RC_ASSERT(shared[job] >= strict[job] - 1e-3);
}

RC_GTEST_PROP(MechanismProperty, TheSameInputGivesTheSamePlan, ()) {
  const std::vector<Server> servers = RandomServers();
  const std::vector<Job> jobs = RandomJobs(40);
  for (const MechanismName& mechanism : MechanismNames()) {
    const std::string name(mechanism.name);
    RC_ASSERT(PlanWith(name, servers, jobs).shares == PlanWith(name, servers, jobs).shares);
  }
}

// The same servers in another order, with the order within one size unchanged, and their new
// positions.
struct Rearranged {
  std::vector<Server> servers;
  std::vector<ServerIndex> went;  // former position -> new position
};

Rearranged Rearrange(const std::vector<Server>& servers) {
  Rearranged made{servers, std::vector<ServerIndex>(servers.size())};
  for (size_t left = servers.size(); left > 1; --left) {
    std::swap(made.servers[left - 1], made.servers[*rc::gen::inRange<size_t>(0, left)]);
  }
  std::vector<bool> taken(servers.size());
  for (size_t from = 0; from < servers.size(); ++from) {
    ServerIndex to = 0;
    while (taken[to] || !(made.servers[to] == servers[from])) ++to;
    taken[to] = true;
    made.went[from] = to;
  }
  return made;
}

// Returns a job's shares at the new positions of its servers.
std::vector<Share> Follow(std::vector<Share> shares, const Rearranged& rearranged) {
  for (Share& share : shares) share.server = rearranged.went[share.server];
  return shares;
}

// On a tie the smallest server is taken, and of equal servers the first. So if sizes are in another
// order, every job gets the same amounts on the same server, round after round.
RC_GTEST_PROP(MechanismProperty, TheOrderOfServersInMemoryDoesNotMatter, ()) {
  std::vector<Server> servers = RandomServers();
  // Jobs that request only GPUs then tie between different servers.
  for (Server& server : servers)
    server.capacity.cpu = *rc::gen::element(1, 2) * server.capacity.cpu;
  const Rearranged rearranged = Rearrange(servers);
  const std::vector<Job> all = RandomJobs(40);
  for (const char* mechanism : {"proportional", "tune", "synergy-rounds"}) {
    std::vector<Job> jobs = all;
    std::vector<Job> others = all;
    for (int round = 0; round < 3; ++round) {
      const Plan plan = PlanWith(mechanism, servers, jobs);
      const Plan other = PlanWith(mechanism, rearranged.servers, others);
      for (JobIndex job = 0; job < jobs.size(); ++job) {
        RC_ASSERT(Follow(plan.shares[job], rearranged) == other.shares[job]);
        // Some jobs are interrupted, so that the next round has to decide something.
        const bool stays = (job + static_cast<JobIndex>(round)) % 3 != 0;
        jobs[job].holds = stays ? plan.shares[job] : std::vector<Share>();
        others[job].holds = stays ? other.shares[job] : std::vector<Share>();
      }
    }
  }
}

// Returns equal servers, none of which is smaller than a job.
std::vector<Server> ServersAlike(size_t most) {
  std::vector<Server> servers(*rc::gen::inRange<size_t>(1, most + 1));
  for (Server& server : servers) server.capacity = {Gpus(8), Cores(24), GB(504)};
  return servers;
}

// Opt takes one of Tune's plans if its own placement has a lower total. So this holds always, not
// only where the first program's value proves it.
RC_GTEST_PROP(MechanismProperty, OptIsNoWorseThanTune, ()) {
  const std::vector<Server> servers = RandomServers();
  const std::vector<Job> jobs = RandomJobs(40);
  const double opt = Total(servers, jobs, PlanWith("opt", servers, jobs));
  RC_ASSERT(opt >= Total(servers, jobs, PlanWith("tune", servers, jobs)) - 1e-6);
  RC_ASSERT(opt >= Total(servers, jobs, PlanWith("synergy-rounds-strict", servers, jobs)) - 1e-6);
}

// The bound is over the choices of DivisionChoices. Tune and proportional take their amounts from
// the same grid (a cell of the profile, the fair share, or the lesser of both). A job that they
// split is no faster than at a point of the grid, so they stay below the bound. Mechanisms that
// take amounts between the grid's points, or give jobs less than their fair share, may exceed it.
RC_GTEST_PROP(MechanismProperty, NoMechanismOnTheGridBeatsOptsBound, ()) {
  const std::vector<Server> servers = ServersAlike(6);
  const std::vector<Job> jobs = RandomJobs(40);
  const auto machine =
      ChooseOnOneMachine(servers, jobs, Runnable(servers, jobs, InOrder(jobs)), kWithoutClock);
  RC_ASSERT(machine);
  RC_ASSERT(machine->bound >= machine->value - 1e-9);
  for (const char* mechanism : {"tune", "proportional"}) {
    RC_ASSERT(Total(servers, jobs, PlanWith(mechanism, servers, jobs)) <= machine->bound + 1e-6);
  }
  const Plan plan = PlanWith("opt", servers, jobs);
  RC_ASSERT(!plan.fell_back);
  RC_ASSERT(plan.gap);
  RC_ASSERT(Total(servers, jobs, plan) >= machine->bound * (1 - *plan.gap) - 1e-6);
}

// Returns the best total of the jobs from `at` on with this much CPU and memory left; -1 if they do
// not fit.
double BestOf(const std::vector<std::vector<DivisionChoice>>& choices, size_t at, MilliCpu cpu,
              Bytes memory) {
  if (at == choices.size()) return 0;
  double best = -1;
  for (const DivisionChoice& choice : choices[at]) {
    if (choice.cpu > cpu || choice.memory > memory) continue;
    const double rest = BestOf(choices, at + 1, cpu - choice.cpu, memory - choice.memory);
    if (rest >= 0) best = std::max(best, choice.value + rest);
  }
  return best;
}

RC_GTEST_PROP(MechanismProperty, TheFirstProgramOfOptFindsWhatTryingEverythingFinds, ()) {
  const std::vector<Server> servers = ServersAlike(3);
  const std::vector<Job> jobs = RandomJobs(9);
  const std::vector<JobIndex> runnable = Runnable(servers, jobs, InOrder(jobs));
  const OptOptions options{.time = kWithoutClock.time, .relative_gap = 0, .cpu_step = Cores(3)};
  const auto machine = ChooseOnOneMachine(servers, jobs, runnable, options);
  RC_ASSERT(machine);

  MilliCpu cpu;
  Bytes memory;
  std::vector<std::vector<DivisionChoice>> choices;
  double combinations = 1;
  for (const JobIndex job : runnable) {
    const ResourceVector& server = servers.front().capacity;
    choices.push_back(DivisionChoices(*jobs[job].profile,
                                      FairShareOf(servers.front(), jobs[job].gpus), server,
                                      options.cpu_step));
    combinations *= static_cast<double>(choices.back().size());
  }
  if (combinations > 1e6) RC_DISCARD("too many to try");
  for (const Server& server : servers) {
    cpu += server.capacity.cpu;
    memory += server.capacity.memory;
  }
  RC_ASSERT(std::abs(BestOf(choices, 0, cpu, memory) - machine->value) < 1e-6);

  double value = 0;
  for (const DivisionChoice& choice : machine->chosen) {
    cpu -= choice.cpu;
    memory -= choice.memory;
    value += choice.value;
  }
  RC_ASSERT(cpu >= MilliCpu(0));
  RC_ASSERT(memory >= Bytes(0));
  RC_ASSERT(std::abs(value - machine->value) < 1e-6);
}

TEST(OptTest, WithoutTimeItIsTunesPlan) {
  const std::vector<Server> servers(2, Server{{Gpus(8), Cores(24), GB(504)}});
  std::vector<Job> jobs;
  for (const JobProfile& profile : AllProfiles().all()) {
    Job job{.id = jobs.size(), .gpus = profile.gpus(), .profile = &profile};
    job.demand = profile.Demand(0);
    job.fair_throughput =
        profile.ThroughputAt(Cores(3 * job.gpus.count()), GB(63 * job.gpus.count()));
    if (job.gpus == Gpus(1)) jobs.push_back(job);
  }
  const Plan plan =
      MakeOpt({.time = std::chrono::milliseconds(0)})->Allocate(servers, jobs, InOrder(jobs));
  EXPECT_TRUE(plan.fell_back);
  EXPECT_FALSE(plan.gap);
  EXPECT_EQ(plan.shares, PlanWith("tune", servers, jobs).shares);
}

}  // namespace
}  // namespace synergy::testing
