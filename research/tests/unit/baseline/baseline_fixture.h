#pragma once

// Helpers for the mechanisms' tests: servers with round amounts, and jobs with given profiles over
// CPU and memory.

#include <deque>
#include <numeric>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "research/baseline/allocator.h"

namespace synergy::testing {

// One GPU's share is 3 cores and 60 GB.
inline constexpr Server kRoundServer{{Gpus(8), Cores(24), GB(480)}};

class BaselineFixture : public ::testing::Test {
 protected:
  // Adds a waiting job. The points are for the whole job, whose fair share is that of kRoundServer.
  JobIndex Have(Gpus gpus, std::vector<JobProfile::Point> points) {
    profiles_.push_back(*JobProfile::Create(gpus, std::move(points)));
    Job job;
    job.id = jobs.size();
    job.gpus = gpus;
    job.profile = &profiles_.back();
    job.demand = job.profile->Demand(0);
    job.fair_throughput = job.profile->ThroughputAt(Cores(3) * gpus.count(), GB(60) * gpus.count());
    jobs.push_back(job);
    return static_cast<JobIndex>(jobs.size() - 1);
  }
  // Adds a job that runs on the server with this amount.
  JobIndex HaveRunning(ServerIndex server, const ResourceVector& amount,
                       std::vector<JobProfile::Point> points) {
    const JobIndex job = Have(amount.gpus, std::move(points));
    jobs[job].holds = {{server, amount}};
    return job;
  }

  // Returns the jobs in the order in which they were added.
  std::vector<JobIndex> Turns() const {
    std::vector<JobIndex> turns(jobs.size());
    std::iota(turns.begin(), turns.end(), JobIndex{0});
    return turns;
  }
  Plan PlanOf(Allocator& allocator) { return allocator.Allocate(servers, jobs, Turns()); }
  std::vector<double> SpeedsIn(const Plan& plan) const {
    return Speeds(servers, jobs, plan, Enforcement::kStrict);
  }

  std::vector<Server> servers = {kRoundServer};
  std::vector<Job> jobs;

 private:
  std::deque<JobProfile> profiles_;  // a deque, so that addresses stay valid
};

}  // namespace synergy::testing
