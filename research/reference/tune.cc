#include "research/reference/tune.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace synergy::reference {
namespace {

bool IsNothing(const Amounts& amounts) {
  return std::all_of(amounts.begin(), amounts.end(), [](double amount) { return amount == 0; });
}

// Jobs with the most per GPU come first, but jobs on one server come before those on several.
bool IsBetterVictim(const Job* a, const Job* b) {
  if (a->parts.size() != b->parts.size()) return a->parts.size() < b->parts.size();
  for (const size_t resource : {kCpu, kMemory}) {
    const double a_per_gpu = a->held[resource] / a->gpus;
    const double b_per_gpu = b->held[resource] / b->gpus;
    if (a_per_gpu != b_per_gpu) return a_per_gpu > b_per_gpu;
  }
  return false;
}

// A stable sort, for a server's few jobs, which are mostly sorted already.
void SortVictims(std::vector<Job*>& jobs) {
  for (size_t i = 1; i < jobs.size(); ++i) {
    Job* const job = jobs[i];
    size_t hole = i;
    for (; hole > 0 && IsBetterVictim(job, jobs[hole - 1]); --hole) jobs[hole] = jobs[hole - 1];
    jobs[hole] = job;
  }
}

double GpusOn(const Job& job, uint32_t server) {
  for (const Part& part : job.parts) {
    if (part.server == server) return part.amounts[kGpu];
  }
  return 0;
}

}  // namespace

Result<bool> Tune::Place(Job& job) {
  Result<bool> full = TryPlace(job, job.demand, /*at_demand=*/true);
  if (!full || *full) return full;

  const Amounts demand = CutToFair(job);
  if (job.cut) {
    Result<bool> fair = TryPlace(job, demand, /*at_demand=*/true);
    if (!fair || *fair) return fair;
  }
  if (auto made = MakeRoom(demand); !made) return Fail(made.error());
  Result<bool> last = TryPlace(job, demand, /*at_demand=*/true);
  if (!last || *last) return last;
  return Fail(ErrorCode::kInvalid,
              fmt::format("job {} has GPUs but finds no CPU or memory even after other jobs were "
                          "cut back; the authors' program gives up here",
                          job.id));
}

Amounts Tune::CutToFair(Job& job) const {
  const Amounts fair = round().cluster.fair() * job.gpus;
  if (FitsWithin(job.demand, fair)) return job.demand;
  job.cut = true;
  Amounts cut = job.demand;
  for (const size_t resource : {kCpu, kMemory, kStorage}) cut[resource] = fair[resource];
  return cut;
}

Result<> Tune::MakeRoom(const Amounts& demand) {
  FindTargets(demand[kGpu]);
  for (const Target& target : targets_) {
    FindVictims(target.server, demand * (target.gpus / demand[kGpu]));
    for (Job* const victim : victims_) {
      if (auto cut = CutBack(*victim); !cut) return cut;
    }
  }
  return {};
}

void Tune::FindTargets(double gpus) {
  targets_.clear();
  const Cluster& cluster = round().cluster;
  for (uint32_t server = 0; gpus > 1 && server < cluster.servers(); ++server) {
    if (cluster.Free(server)[kGpu] < gpus) continue;
    targets_.push_back({server, gpus});
    return;
  }
  ByFreeGpus(cluster, order_);
  for (const uint32_t server : order_) {
    const double taken = std::min(cluster.Free(server)[kGpu], gpus);
    targets_.push_back({server, taken});
    gpus -= taken;
    if (gpus <= 0) return;
  }
}

void Tune::FindVictims(uint32_t server, const Amounts& need) {
  victims_.clear();
  const Cluster& cluster = round().cluster;
  Amounts missing = Excess(need, cluster.Free(server));
  if (IsNothing(missing)) return;

  std::vector<Job*>& jobs = round().cluster.JobsOn(server);
  SortVictims(jobs);
  for (Job* const job : jobs) {
    // A job that has nothing to give is nevertheless charged again, at the speed of the fair share.
    victims_.push_back(job);
    const double gpus = GpusOn(*job, server);
    const Amounts held = job->held * (gpus / job->gpus);
    missing = Excess(missing, Excess(held, cluster.fair() * gpus));
    if (IsNothing(missing)) return;
  }
}

Result<> Tune::CutBack(Job& job) {
  parts_ = job.parts;
  round().cluster.Release(job);
  job.RefundRound(round().duration);
  const Amounts demand = CutToFair(job);
  for (Part& part : parts_) part.amounts = demand * (part.amounts[kGpu] / job.gpus);
  if (auto taken = round().cluster.Take(job, parts_); !taken) return taken;
  job.ChargeRound(round().duration, /*at_demand=*/false);
  return {};
}

}  // namespace synergy::reference
