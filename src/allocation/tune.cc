#include "allocation/tune.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "allocation/best_fit.h"
#include "allocation/packing.h"
#include "allocation/re_division.h"

namespace synergy {
namespace {

// `part` GPUs' worth of what is meant for `whole` GPUs.
ResourceVector PartOf(const ResourceVector& amount, Gpus part, Gpus whole) {
  if (part == whole) return amount;
  const auto scale = [&](int64_t value) { return value * part.count() / whole.count(); };
  return {part, MilliCpu(scale(amount.cpu.count())), Bytes(scale(amount.memory.count()))};
}

ResourceVector Least(const ResourceVector& a, const ResourceVector& b) {
  return {a.gpus, std::min(a.cpu, b.cpu), std::min(a.memory, b.memory)};
}

// Per GPU, the least CPU and memory that any of these jobs wants, and no more than any server has:
// a GPU that cannot have more has nothing kept for it.
ResourceVector LeastPerGpu(std::span<const Server> servers, std::span<const Job> jobs) {
  if (jobs.empty()) return {};
  ResourceVector least{Gpus(1), MilliCpu(std::numeric_limits<int64_t>::max()),
                       Bytes(std::numeric_limits<int64_t>::max())};
  for (const Job& job : jobs) least = Least(least, PartOf(job.demand, Gpus(1), job.gpus));
  for (const Server& server : servers) {
    if (server.capacity.gpus > Gpus(0)) least = Least(least, FairShareOf(server, Gpus(1)));
  }
  return least;
}

ResourceVector LargestOf(std::span<const Server> servers) {
  ResourceVector largest{Gpus(1), MilliCpu(1), Bytes(1)};
  for (const Server& server : servers) {
    largest.gpus = std::max(largest.gpus, server.capacity.gpus);
    largest.cpu = std::max(largest.cpu, server.capacity.cpu);
    largest.memory = std::max(largest.memory, server.capacity.memory);
  }
  return largest;
}

// One round.
class TuneRound {
 public:
  TuneRound(TuneVariant variant, Divider& divider, std::span<const Server> servers,
            std::span<const Job> jobs)
      : ours_(variant == TuneVariant::kOurs),
        divider_(divider),
        servers_(servers),
        jobs_(jobs),
        packing_(servers),
        largest_(LargestOf(servers)),
        occupants_(servers.size()) {
    if (ours_) reserve_ = LeastPerGpu(servers, jobs);
    plan_.shares.resize(jobs.size());
    plan_.reasons.assign(jobs.size(), Unplaced::kNoGpus);
  }

  Plan Run(std::span<const JobIndex> order) {
    std::vector<JobIndex> arriving;
    for (const JobIndex job : Runnable(servers_, jobs_, order)) {
      if (!Keep(job)) arriving.push_back(job);
    }
    for (JobIndex job = 0; job < jobs_.size(); ++job) Restore(job);
    std::stable_sort(arriving.begin(), arriving.end(),
                     [&](JobIndex a, JobIndex b) { return GoesFirst(jobs_[a], jobs_[b]); });
    for (const JobIndex job : arriving) {
      plan_.reasons[job] = Place(job) ? Unplaced::kPlaced : Unplaced::kNoRoom;
    }
    if (ours_) {
      for (ServerIndex server = 0; server < servers_.size(); ++server) Divide(server);
      for (JobIndex job = 0; job < jobs_.size(); ++job) {
        if (plan_.shares[job].size() > 1) Grow(job);
      }
    }
    return std::move(plan_);
  }

 private:
  void Hold(JobIndex job, ServerIndex server, const ResourceVector& amount) {
    packing_.Take(server, amount);
    plan_.shares[job].push_back({server, amount});
    occupants_[server].push_back(job);
  }

  Share& ShareOn(JobIndex job, ServerIndex server) {
    return *std::find_if(plan_.shares[job].begin(), plan_.shares[job].end(),
                         [server](const Share& share) { return share.server == server; });
  }

  // A share with other amounts.
  void Amend(Share& share, const ResourceVector& amount) {
    if (amount == share.amount) return;
    packing_.Give(share.server, share.amount);
    packing_.Take(share.server, amount);
    share.amount = amount;
  }

  // A running job stays where it is. False: it has to be placed, because a server of its is gone.
  bool Keep(JobIndex job) {
    const std::vector<Share>& holds = jobs_[job].holds;
    if (holds.empty()) return false;
    for (const Share& share : holds) {
      if (share.server >= servers_.size()) return false;
      const ResourceVector& free = packing_.free(share.server);
      if (ours_ ? share.amount.gpus > free.gpus : !share.amount.FitsWithin(free)) return false;
    }
    for (const Share& share : holds) {
      Hold(job, share.server,
           ours_ ? PartOf(jobs_[job].demand, share.amount.gpus, jobs_[job].gpus) : share.amount);
    }
    plan_.reasons[job] = Unplaced::kPlaced;
    return true;
  }

  // A job that was cut takes its whole demand again where others left room for it.
  void Restore(JobIndex index) {
    if (ours_) return;  // re-division will see to it
    const Job& job = jobs_[index];
    for (Share& share : plan_.shares[index]) {
      const ResourceVector demand = PartOf(job.demand, share.amount.gpus, job.gpus);
      const ResourceVector room = packing_.free(share.server) + share.amount;
      if (demand.FitsWithin(room)) Amend(share, demand);
    }
  }

  // As published by demand; ours by what a job gains from it, so that those who gain most are
  // spread over the servers before the rest fills the gaps. Jobs with many GPUs first in both.
  bool GoesFirst(const Job& a, const Job& b) const {
    if (a.gpus != b.gpus) return a.gpus > b.gpus;
    if (ours_) return SpeedUp(a) > SpeedUp(b);
    return std::tie(a.demand.cpu, a.demand.memory) > std::tie(b.demand.cpu, b.demand.memory);
  }

  static double SpeedUp(const Job& job) { return job.profile->Best() / job.fair_throughput; }

  // The best server for the demand, where there are GPUs enough.
  std::optional<ServerIndex> Find(const ResourceVector& demand) {
    if (ours_) {
      const BestFitStep step(demand, reserve_, largest_);
      return packing_.Best(demand.gpus, [&](const Server&, const ResourceVector& free) {
        return std::optional(step.Rank(free));
      });
    }
    // The least free that just holds the demand, else the fair share; else the fewest free GPUs.
    const auto by_room = [&](const Server& server, const ResourceVector& free) {
      const ResourceVector share = Least(demand, FairShareOf(server, demand.gpus));
      const int tier = demand.FitsWithin(free) ? 0 : share.FitsWithin(free) ? 1 : 2;
      return std::optional(
          std::pair(tier, tier == 2 ? static_cast<double>(free.gpus.count()) : InNodes(free)));
    };
    return packing_.Best(demand.gpus, by_room);
  }

  // An amount as a sum over the dimensions, in parts of the largest server.
  double InNodes(const ResourceVector& amount) const {
    const auto part = [](auto a, auto whole) {
      return static_cast<double>(a.count()) / static_cast<double>(whole.count());
    };
    return part(amount.gpus, largest_.gpus) + part(amount.cpu, largest_.cpu) +
           part(amount.memory, largest_.memory);
  }

  std::optional<ServerIndex> FindEmptiest() {
    return packing_.Best(Gpus(1), [&](const Server&, const ResourceVector& free) {
      return std::optional(-free.gpus.count());
    });
  }

  bool Place(JobIndex index) {
    Gpus left = jobs_[index].gpus;
    if (PlaceOn(index, left)) return true;
    // The fewest servers: the emptiest, until one holds the rest.
    if (packing_.free_gpus() < left) return false;
    while (left > Gpus(0)) {
      if (PlaceOn(index, left)) return true;
      const std::optional<ServerIndex> server = FindEmptiest();
      if (!server) break;
      const Gpus part = std::min(left, packing_.free(*server).gpus);
      if (!Squeeze(index, *server, part)) break;
      left -= part;
    }
    if (left == Gpus(0)) return true;
    Withdraw(index);
    return false;
  }

  // On one server, `gpus` of the job's GPUs.
  bool PlaceOn(JobIndex index, Gpus gpus) {
    const std::optional<ServerIndex> server =
        Find(PartOf(jobs_[index].demand, gpus, jobs_[index].gpus));
    return server && Squeeze(index, *server, gpus);
  }

  // Gives `gpus` of the job's GPUs the demand there, or else the fair share, for which its
  // neighbours go down to theirs if need be. Ours gives everybody its demand, whether that is there
  // or not, so that the next ranking sees who wants what; re-division settles it.
  bool Squeeze(JobIndex index, ServerIndex server, Gpus gpus) {
    const Job& job = jobs_[index];
    const ResourceVector demand = PartOf(job.demand, gpus, job.gpus);
    if (ours_ || demand.FitsWithin(packing_.free(server))) {
      Hold(index, server, demand);
      return true;
    }
    const ResourceVector need = Least(demand, FairShareOf(servers_[server], gpus));
    for (const JobIndex other : occupants_[server]) {
      if (need.FitsWithin(packing_.free(server))) break;
      Share& share = ShareOn(other, server);
      Amend(share, Least(share.amount, FairShareOf(servers_[server], share.amount.gpus)));
    }
    if (!need.FitsWithin(packing_.free(server))) return false;
    Hold(index, server, need);
    return true;
  }

  void Withdraw(JobIndex job) {
    for (const Share& share : plan_.shares[job]) {
      packing_.Give(share.server, share.amount);
      std::erase(occupants_[share.server], job);
    }
    plan_.shares[job].clear();
  }

  void Divide(ServerIndex server) {
    // In the order of demand, so that equal sets of jobs are one question to the divider.
    std::vector<JobIndex> whole;
    ResourceVector free = servers_[server].capacity;
    for (const JobIndex job : occupants_[server]) {
      if (plan_.shares[job].size() == 1) {
        whole.push_back(job);
      } else {
        // Its shares have to stay alike on all its servers: it keeps to its fair share.
        Share& share = ShareOn(job, server);
        Amend(share, Least(share.amount, FairShareOf(servers_[server], share.amount.gpus)));
        free -= share.amount;
      }
    }
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
      Amend(share, answer.amounts.empty()
                       ? Least(share.amount, FairShareOf(servers_[server], share.amount.gpus))
                       : answer.amounts[at]);
    }
  }

  // A job on several servers takes of what is left there as much as all of them can give alike.
  void Grow(JobIndex index) {
    const Job& job = jobs_[index];
    double cpu = static_cast<double>(job.demand.cpu.count());
    double memory = static_cast<double>(job.demand.memory.count());
    for (const Share& share : plan_.shares[index]) {
      const ResourceVector room = packing_.free(share.server) + share.amount;
      const double parts =
          static_cast<double>(job.gpus.count()) / static_cast<double>(share.amount.gpus.count());
      cpu = std::min(cpu, static_cast<double>(room.cpu.count()) * parts);
      memory = std::min(memory, static_cast<double>(room.memory.count()) * parts);
    }
    const ResourceVector whole{job.gpus, MilliCpu(static_cast<int64_t>(cpu)),
                               Bytes(static_cast<int64_t>(memory))};
    for (Share& share : plan_.shares[index]) {
      const ResourceVector grown = PartOf(whole, share.amount.gpus, job.gpus);
      Amend(share, {grown.gpus, std::max(grown.cpu, share.amount.cpu),
                    std::max(grown.memory, share.amount.memory)});
    }
  }

  bool ours_;
  Divider& divider_;
  std::span<const Server> servers_;
  std::span<const Job> jobs_;
  Packing packing_;
  ResourceVector largest_;
  ResourceVector reserve_;
  std::vector<std::vector<JobIndex>> occupants_;  // by server
  std::vector<const JobProfile*> profiles_;
  Plan plan_;
};

class Tune final : public Allocator {
 public:
  explicit Tune(TuneVariant variant) : variant_(variant) {}

  Plan Allocate(std::span<const Server> servers, std::span<const Job> jobs,
                std::span<const JobIndex> order) override {
    return TuneRound(variant_, divider_, servers, jobs).Run(order);
  }

 private:
  TuneVariant variant_;
  Divider divider_;
};

}  // namespace

std::unique_ptr<Allocator> MakeTune(TuneVariant variant) { return std::make_unique<Tune>(variant); }

}  // namespace synergy
