#include "research/baseline/tune.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "research/baseline/arrangement.h"
#include "research/baseline/divider.h"
#include "research/baseline/packing.h"

namespace synergy {
namespace {

// Sorts the jobs by decreasing GPUs, then by the pair that `key(job)` returns. The sort is stable.
template <class Key>
void SortByTurn(std::vector<JobIndex>& turns, std::span<const Job> jobs, Key key) {
  // The sort keys are contiguous: otherwise, with 100,000 jobs, the sort would have to wait for
  // memory.
  struct Turn {
    int64_t gpus;
    std::pair<double, double> key;
    JobIndex job;
  };
  std::vector<Turn> sorted;
  sorted.reserve(turns.size());
  for (const JobIndex job : turns) sorted.push_back({jobs[job].gpus.count(), key(jobs[job]), job});
  std::stable_sort(sorted.begin(), sorted.end(), [](const Turn& a, const Turn& b) {
    return std::tie(a.gpus, a.key) > std::tie(b.gpus, b.key);
  });
  for (size_t at = 0; at < sorted.size(); ++at) turns[at] = sorted[at].job;
}

// Plans one round of Tune as published.
class TuneRound {
 public:
  TuneRound(std::span<const Server> servers, std::span<const Job> jobs)
      : servers_(servers),
        jobs_(jobs),
        packing_(servers),
        largest_(LargestOf(servers)),
        occupants_(servers.size()) {
    plan_.shares.resize(jobs.size());
    plan_.reasons.assign(jobs.size(), Unplaced::kNoGpus);
  }

  Plan Run(std::span<const JobIndex> order) {
    std::vector<JobIndex> arriving;
    for (const JobIndex job : Runnable(servers_, jobs_, order)) {
      if (!Keep(job)) arriving.push_back(job);
    }
    for (JobIndex job = 0; job < jobs_.size(); ++job) Restore(job);
    SortByTurn(arriving, jobs_, [](const Job& job) {
      return std::pair(static_cast<double>(job.demand.cpu.count()),
                       static_cast<double>(job.demand.memory.count()));
    });
    for (size_t at = 0; at < arriving.size(); ++at) {
      if (at + kAhead < arriving.size()) {
        Prefetch(&jobs_[arriving[at + kAhead]], &plan_.shares[arriving[at + kAhead]]);
      }
      const JobIndex job = arriving[at];
      plan_.reasons[job] = Place(job) ? Unplaced::kPlaced : Unplaced::kNoRoom;
    }
    return std::move(plan_);
  }

 private:
  ResourceVector DemandOf(JobIndex job, Gpus gpus) const {
    return PartOf(jobs_[job].demand, gpus, jobs_[job].gpus);
  }

  void Hold(JobIndex job, ServerIndex server, const ResourceVector& amount) {
    packing_.Take(server, amount);
    plan_.shares[job].push_back({server, amount});
    occupants_[server].push_back(job);
  }

  // Changes the amounts of a share.
  void Amend(Share& share, const ResourceVector& amount) {
    if (amount == share.amount) return;
    packing_.Give(share.server, share.amount);
    packing_.Take(share.server, amount);
    share.amount = amount;
  }

  // Keeps a running job on its servers. Returns false if the job has to be placed, because one of
  // them is gone.
  bool Keep(JobIndex job) {
    const std::vector<Share>& holds = jobs_[job].holds;
    const bool stays = std::all_of(holds.begin(), holds.end(), [&](const Share& share) {
      return share.server < servers_.size() && share.amount.FitsWithin(packing_.free(share.server));
    });
    if (holds.empty() || !stays) return false;
    for (const Share& share : holds) Hold(job, share.server, share.amount);
    plan_.reasons[job] = Unplaced::kPlaced;
    return true;
  }

  // Restores the whole demand of a job that was cut, if there is room for it.
  void Restore(JobIndex job) {
    for (Share& share : plan_.shares[job]) {
      const ResourceVector demand = DemandOf(job, share.amount.gpus);
      if (demand.FitsWithin(packing_.free(share.server) + share.amount)) Amend(share, demand);
    }
  }

  bool Place(JobIndex job) {
    Gpus left = jobs_[job].gpus;
    // Takes the emptiest servers until one can hold the rest, so that the job uses as few as
    // possible.
    while (left > Gpus(0)) {
      if (const auto server = Find(DemandOf(job, left)); server && Squeeze(job, *server, left)) {
        return true;
      }
      const auto emptiest = packing_.Best(Gpus(1), [](const Server&, const ResourceVector& free) {
        return std::optional(-free.gpus.count());
      });
      if (!emptiest) break;
      const Gpus part = std::min(left, packing_.free(*emptiest).gpus);
      if (!Squeeze(job, *emptiest, part)) break;
      left -= part;
    }
    if (left == Gpus(0)) return true;
    Withdraw(job);
    return false;
  }

  // Finds the server with the least free amounts among those with room for the demand, or else
  // among those with room for the fair share. If there is none, finds the server with the fewest
  // free GPUs.
  std::optional<ServerIndex> Find(const ResourceVector& demand) {
    return packing_.Best(demand.gpus, [&](const Server& server, const ResourceVector& free) {
      const ResourceVector share = LesserOf(demand, FairShareOf(server, demand.gpus));
      const int tier = demand.FitsWithin(free) ? 0 : share.FitsWithin(free) ? 1 : 2;
      return std::optional(
          std::pair(tier, tier == 2 ? static_cast<double>(free.gpus.count()) : InNodes(free)));
    });
  }

  // Returns the sum of an amount's dimensions, each as a fraction of the largest server's.
  double InNodes(const ResourceVector& amount) const {
    double nodes = 0;
    ResourceVector::ForEach([&](auto member) {
      nodes += static_cast<double>((amount.*member).count()) /
               static_cast<double>((largest_.*member).count());
    });
    return nodes;
  }

  // Places `gpus` of the job's GPUs on this server, with their demand or else their fair share. If
  // necessary, cuts the server's other jobs to their fair shares.
  bool Squeeze(JobIndex job, ServerIndex server, Gpus gpus) {
    const ResourceVector demand = DemandOf(job, gpus);
    if (demand.FitsWithin(packing_.free(server))) {
      Hold(job, server, demand);
      return true;
    }
    const ResourceVector need = LesserOf(demand, FairShareOf(servers_[server], gpus));
    for (const JobIndex other : occupants_[server]) {
      if (need.FitsWithin(packing_.free(server))) break;
      Share& share = *std::find_if(plan_.shares[other].begin(), plan_.shares[other].end(),
                                   [server](const Share& at) { return at.server == server; });
      Amend(share, LesserOf(share.amount, FairShareOf(servers_[server], share.amount.gpus)));
    }
    if (!need.FitsWithin(packing_.free(server))) return false;
    Hold(job, server, need);
    return true;
  }

  void Withdraw(JobIndex job) {
    for (const Share& share : plan_.shares[job]) {
      packing_.Give(share.server, share.amount);
      std::erase(occupants_[share.server], job);
    }
    plan_.shares[job].clear();
  }

  std::span<const Server> servers_;
  std::span<const Job> jobs_;
  Packing packing_;
  ResourceVector largest_;
  std::vector<std::vector<JobIndex>> occupants_;  // server -> jobs
  Plan plan_;
};

class PublishedTune final : public Allocator {
 public:
  Plan Allocate(std::span<const Server> servers, std::span<const Job> jobs,
                std::span<const JobIndex> order) override {
    return TuneRound(servers, jobs).Run(order);
  }
};

class OurTune final : public Allocator {
 public:
  Plan Allocate(std::span<const Server> servers, std::span<const Job> jobs,
                std::span<const JobIndex> order) override {
    std::vector<JobIndex> turns = Runnable(servers, jobs, order);
    // Sorts by the gain from the demand, so that the jobs that gain most are spread over the
    // servers before the others fill the gaps.
    SortByTurn(turns, jobs, [](const Job& job) {
      return std::pair(job.profile->Best() / job.fair_throughput, 0.0);
    });
    std::vector<ResourceVector> wanted;
    wanted.reserve(jobs.size());
    for (const Job& job : jobs) wanted.push_back(job.demand);
    return Arrange(servers, jobs, turns, wanted, divider_);
  }

 private:
  Divider divider_;
};

}  // namespace

std::unique_ptr<Allocator> MakeTune(TuneVariant variant) {
  if (variant == TuneVariant::kOurs) return std::make_unique<OurTune>();
  return std::make_unique<PublishedTune>();
}

}  // namespace synergy
