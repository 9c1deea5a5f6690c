#include "research/baseline/allocator.h"

#include <algorithm>

#include "allocation/sharing.h"

namespace synergy {
namespace {

// Returns the amounts of the whole job if it has such a share on each of its servers.
ResourceVector AsWholeJob(const Job& job, const ResourceVector& share) {
  return PartOf(share, job.gpus, share.gpus);
}

struct Occupant {
  JobIndex job;
  ResourceVector amount;
};

// Divides CPU among the server's jobs in proportion to their requests.
void ShareCpuOf(const Server& server, std::span<const Job> jobs, std::vector<Occupant>& occupants) {
  std::vector<CpuUser> users;
  users.reserve(occupants.size());
  for (const Occupant& occupant : occupants) {
    const Job& job = jobs[occupant.job];
    const ResourceVector whole = AsWholeJob(job, occupant.amount);
    const int64_t useful = UsefulCpu(*job.profile, whole.memory).count();
    users.push_back({static_cast<double>(occupant.amount.cpu.count()),
                     MilliCpu(useful * occupant.amount.gpus.count() / job.gpus.count())});
  }
  const std::vector<MilliCpu> cpu = ShareCpu(users, server.capacity.cpu);
  for (size_t at = 0; at < occupants.size(); ++at) occupants[at].amount.cpu = cpu[at];
}

}  // namespace

std::vector<JobIndex> Runnable(std::span<const Server> servers, std::span<const Job> jobs,
                               std::span<const JobIndex> order) {
  Gpus left;
  for (const Server& server : servers) left += server.capacity.gpus;
  std::vector<JobIndex> runnable;
  for (const JobIndex job : order) {
    if (left <= Gpus(0)) break;
    if (jobs[job].gpus > left) continue;
    left -= jobs[job].gpus;
    runnable.push_back(job);
  }
  return runnable;
}

std::vector<double> Speeds(std::span<const Server> servers, std::span<const Job> jobs,
                           const Plan& plan, Enforcement enforcement) {
  std::vector<std::vector<Occupant>> occupants(servers.size());
  for (JobIndex job = 0; job < plan.shares.size(); ++job) {
    for (const Share& share : plan.shares[job]) {
      occupants[share.server].push_back({job, share.amount});
    }
  }
  std::vector<double> speeds(jobs.size(), 0);
  for (ServerIndex server = 0; server < servers.size(); ++server) {
    if (enforcement == Enforcement::kShared) ShareCpuOf(servers[server], jobs, occupants[server]);
    for (const auto& [index, amount] : occupants[server]) {
      const Job& job = jobs[index];
      const ResourceVector whole = AsWholeJob(job, amount);
      const double speed = job.profile->ThroughputAt(whole.cpu, whole.memory) / job.fair_throughput;
      double& slowest = speeds[index];
      slowest = slowest > 0 ? std::min(slowest, speed) : speed;
    }
  }
  return speeds;
}

}  // namespace synergy
