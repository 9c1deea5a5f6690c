#include "research/baseline/arrangement.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "allocation/best_fit.h"
#include "research/baseline/packing.h"

namespace synergy {
namespace {

// Returns the least CPU and memory per GPU that any of these jobs wants, but at most the smallest
// fair share of one GPU on any server. No more than this is reserved for an idle GPU.
ResourceVector LeastPerGpu(std::span<const Server> servers, std::span<const JobIndex> turns,
                           std::span<const ResourceVector> wanted) {
  ResourceVector least =
      ResourceVector::Make(Gpus(1), [](auto) { return std::numeric_limits<int64_t>::max(); });
  for (const JobIndex job : turns) {
    least = LesserOf(least, PartOf(wanted[job], Gpus(1), wanted[job].gpus));
  }
  for (const Server& server : servers) {
    if (server.capacity.gpus > Gpus(0)) least = LesserOf(least, FairShareOf(server, Gpus(1)));
  }
  return least;
}

class Arrangement {
 public:
  Arrangement(std::span<const Server> servers, std::span<const Job> jobs,
              std::span<const JobIndex> turns, std::span<const ResourceVector> wanted,
              Divider& divider)
      : divider_(divider),
        servers_(servers),
        jobs_(jobs),
        turns_(turns),
        wanted_(wanted),
        packing_(servers),
        largest_(LargestOf(servers)),
        reserve_(LeastPerGpu(servers, turns, wanted)),
        occupants_(servers.size()) {
    plan_.shares.resize(jobs.size());
    plan_.reasons.assign(jobs.size(), Unplaced::kNoGpus);
  }

  Plan Run() {
    for (const JobIndex job : turns_) Keep(job);
    for (size_t at = 0; at < turns_.size(); ++at) {
      if (at + kAhead < turns_.size()) {
        Prefetch(&jobs_[turns_[at + kAhead]], &plan_.shares[turns_[at + kAhead]]);
      }
      const JobIndex job = turns_[at];
      if (plan_.shares[job].empty()) Place(job, jobs_[job].gpus);
    }
    for (const JobIndex job : turns_) {
      if (plan_.shares[job].size() > 1) Shrink(job);
    }
    for (ServerIndex server = 0; server < servers_.size(); ++server) Divide(server);
    for (const JobIndex job : turns_) {
      if (plan_.shares[job].size() > 1) Grow(job);
    }
    return std::move(plan_);
  }

 private:
  void Hold(JobIndex job, ServerIndex server, Gpus gpus) {
    const ResourceVector amount = PartOf(wanted_[job], gpus, jobs_[job].gpus);
    packing_.Take(server, amount);
    plan_.shares[job].push_back({server, amount});
    plan_.reasons[job] = Unplaced::kPlaced;
    occupants_[server].push_back(job);
  }

  // Keeps the job on its servers, unless it waits or one of them is gone.
  void Keep(JobIndex job) {
    const std::vector<Share>& holds = jobs_[job].holds;
    const bool stays = std::all_of(holds.begin(), holds.end(), [&](const Share& share) {
      return share.server < servers_.size() &&
             share.amount.gpus <= packing_.free(share.server).gpus;
    });
    if (!stays) return;
    for (const Share& share : holds) Hold(job, share.server, share.amount.gpus);
  }

  void Place(JobIndex job, Gpus gpus) {
    const BestFitStep step(PartOf(wanted_[job], gpus, jobs_[job].gpus), reserve_, largest_);
    const auto server = packing_.Best(gpus, [&](const Server&, const ResourceVector& free) {
      return std::optional(step.Rank(free));
    });
    if (server) {
      Hold(job, *server, gpus);
      return;
    }
    // Takes the emptiest servers until one can hold the rest, so that the job uses as few as
    // possible.
    const auto emptiest = packing_.Best(Gpus(1), [](const Server&, const ResourceVector& free) {
      return std::optional(-free.gpus.count());
    });
    if (!emptiest) return;
    const Gpus part = packing_.free(*emptiest).gpus;
    Hold(job, *emptiest, part);
    Place(job, gpus - part);
  }

  Share& ShareOn(JobIndex job, ServerIndex server) {
    return *std::find_if(plan_.shares[job].begin(), plan_.shares[job].end(),
                         [server](const Share& share) { return share.server == server; });
  }

  // Changes the amounts of a share.
  void Amend(Share& share, const ResourceVector& amount) {
    if (amount == share.amount) return;
    packing_.Give(share.server, share.amount);
    packing_.Take(share.server, amount);
    share.amount = amount;
  }

  // Returns the job's guaranteed amounts on that server.
  ResourceVector FairAmount(JobIndex job, ServerIndex server, Gpus gpus) const {
    return LesserOf(PartOf(jobs_[job].demand, gpus, jobs_[job].gpus),
                    FairShareOf(servers_[server], gpus));
  }

  void Shrink(JobIndex job) {
    for (Share& share : plan_.shares[job]) {
      Amend(share, FairAmount(job, share.server, share.amount.gpus));
    }
  }

  void Divide(ServerIndex server) {
    std::vector<JobIndex> whole;
    ResourceVector free = servers_[server].capacity;
    for (const JobIndex job : occupants_[server]) {
      if (plan_.shares[job].size() == 1) {
        whole.push_back(job);
      } else {
        free -= ShareOn(job, server).amount;
      }
    }
    // Sorts by demand, so that equal sets of jobs use the same cached answer of the divider.
    std::sort(whole.begin(), whole.end(), [&](JobIndex a, JobIndex b) {
      const auto key = [&](JobIndex job) {
        const ResourceVector& demand = jobs_[job].demand;
        return std::tuple(demand.gpus, demand.cpu, demand.memory, jobs_[job].id);
      };
      return key(a) < key(b);
    });
    profiles_.clear();
    for (const JobIndex job : whole) profiles_.push_back(jobs_[job].profile);
    const Divider::Answer& answer = divider_.Divide(servers_[server], profiles_, free);
    for (size_t at = 0; at < whole.size(); ++at) {
      Share& share = plan_.shares[whole[at]].front();
      // Fair shares always fit together.
      Amend(share, answer.amounts.empty() ? FairAmount(whole[at], server, share.amount.gpus)
                                          : answer.amounts[at]);
    }
  }

  // Grows a job on several servers towards its wanted amounts, by the same amounts per GPU on each
  // server, as far as all of them have room.
  void Grow(JobIndex index) {
    const Job& job = jobs_[index];
    ResourceVector whole = LargerOf(wanted_[index], job.demand);
    for (const Share& share : plan_.shares[index]) {
      const ResourceVector room = packing_.free(share.server) + share.amount;
      whole = LesserOf(whole, PartOf(room, job.gpus, share.amount.gpus));
    }
    for (Share& share : plan_.shares[index]) {
      const ResourceVector grown = PartOf(whole, share.amount.gpus, job.gpus);
      Amend(share, LargerOf(share.amount, grown));
    }
  }

  Divider& divider_;
  std::span<const Server> servers_;
  std::span<const Job> jobs_;
  std::span<const JobIndex> turns_;
  std::span<const ResourceVector> wanted_;
  Packing packing_;
  ResourceVector largest_;
  ResourceVector reserve_;                        // per GPU
  std::vector<std::vector<JobIndex>> occupants_;  // server -> jobs
  std::vector<const JobProfile*> profiles_;
  Plan plan_;
};

}  // namespace

ResourceVector LargestOf(std::span<const Server> servers) {
  ResourceVector largest = ResourceVector::Make(Gpus(1), [](auto) { return 1; });
  for (const Server& server : servers) {
    largest = LargerOf(largest, server.capacity);
    largest.gpus = std::max(largest.gpus, server.capacity.gpus);
  }
  return largest;
}

Plan Arrange(std::span<const Server> servers, std::span<const Job> jobs,
             std::span<const JobIndex> turns, std::span<const ResourceVector> wanted,
             Divider& divider) {
  return Arrangement(servers, jobs, turns, wanted, divider).Run();
}

}  // namespace synergy
