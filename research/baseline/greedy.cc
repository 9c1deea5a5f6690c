#include "research/baseline/greedy.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "research/baseline/arrangement.h"
#include "research/baseline/packing.h"

namespace synergy {
namespace {

template <class Amount>
double Fraction(Amount amount, Amount whole) {
  return static_cast<double>(amount.count()) /
         static_cast<double>(std::max<int64_t>(whole.count(), 1));
}

// Returns DRF's dominant share: the largest fraction of the whole in any dimension.
double DominantShare(const ResourceVector& amount, const ResourceVector& whole) {
  double largest = 0;
  ResourceVector::ForEach(
      [&](auto member) { largest = std::max(largest, Fraction(amount.*member, whole.*member)); });
  return largest;
}

// Returns Tetris's alignment: the dot product of both, as fractions of the whole.
double Alignment(const ResourceVector& a, const ResourceVector& b, const ResourceVector& whole) {
  double sum = 0;
  ResourceVector::ForEach([&](auto member) {
    sum += Fraction(a.*member, whole.*member) * Fraction(b.*member, whole.*member);
  });
  return sum;
}

class GreedyRound {
 public:
  GreedyRound(GreedyOrder order, std::span<const Server> servers, std::span<const Job> jobs)
      : order_(order),
        servers_(servers),
        jobs_(jobs),
        packing_(servers),
        largest_(LargestOf(servers)) {
    for (const Server& server : servers) total_ += server.capacity;
    plan_.shares.resize(jobs.size());
    plan_.reasons.assign(jobs.size(), Unplaced::kNoGpus);
  }

  Plan Run(std::span<const JobIndex> policy_order) {
    // Jobs whose turn it is come first, then other jobs that fit beside them. Running jobs keep
    // their places.
    const std::vector<JobIndex> order = Sorted(policy_order);
    const std::vector<JobIndex> first = Runnable(servers_, jobs_, order);
    PlaceAll(first);
    PlaceRest(order);
    return std::move(plan_);
  }

 private:
  ResourceVector Demand(const Job& job) const {
    const int64_t servers = (job.gpus.count() + largest_.gpus.count() - 1) / largest_.gpus.count();
    return ResourceVector::Make(job.gpus, [&](auto member) {
      return std::min(job.demand.*member, largest_.*member * servers);
    });
  }

  std::vector<JobIndex> Sorted(std::span<const JobIndex> policy_order) const {
    std::vector<JobIndex> order(policy_order.begin(), policy_order.end());
    if (order_ == GreedyOrder::kPolicy) return order;
    std::vector<double> keys(jobs_.size());
    for (const JobIndex job : order) {
      const ResourceVector demand = Demand(jobs_[job]);
      keys[job] = order_ == GreedyOrder::kDrf ? DominantShare(demand, total_)
                                              : -Alignment(demand, total_, total_);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](JobIndex a, JobIndex b) { return keys[a] < keys[b]; });
    return order;
  }

  void PlaceAll(std::span<const JobIndex> order) {
    KeepAll(order);
    for (const JobIndex job : order) PlaceIfWaiting(job);
  }

  // None of these jobs moves: if a job loses its place, it waits.
  void PlaceRest(std::span<const JobIndex> order) {
    KeepAll(order);
    for (const JobIndex job : order) {
      if (packing_.free_gpus() <= Gpus(0)) break;
      if (!jobs_[job].Runs()) PlaceIfWaiting(job);
    }
  }

  void KeepAll(std::span<const JobIndex> order) {
    for (const JobIndex job : order) {
      if (plan_.shares[job].empty() && jobs_[job].Runs()) Keep(job);
    }
  }

  void PlaceIfWaiting(JobIndex job) {
    if (!plan_.shares[job].empty() || jobs_[job].gpus > packing_.free_gpus()) return;
    if (!Place(job)) plan_.reasons[job] = Unplaced::kNoRoom;
  }

  void Hold(JobIndex job, ServerIndex server, const ResourceVector& amount) {
    packing_.Take(server, amount);
    plan_.shares[job].push_back({server, amount});
    plan_.reasons[job] = Unplaced::kPlaced;
  }

  void Keep(JobIndex job) {
    const std::vector<Share>& holds = jobs_[job].holds;
    const bool fits = std::all_of(holds.begin(), holds.end(), [&](const Share& share) {
      return share.server < servers_.size() && share.amount.FitsWithin(packing_.free(share.server));
    });
    if (!fits) return;
    for (const Share& share : holds) Hold(job, share.server, share.amount);
  }

  // Returns a server with room for the amount: the first, or the best aligned one if the rule
  // aligns.
  std::optional<ServerIndex> Find(const ResourceVector& amount) {
    return packing_.Best(amount.gpus, [&](const Server&, const ResourceVector& free) {
      const double rank = order_ == GreedyOrder::kTetris ? -Alignment(amount, free, total_) : 0;
      return amount.FitsWithin(free) ? std::optional(rank) : std::nullopt;
    });
  }

  bool Place(JobIndex job) {
    const ResourceVector demand = Demand(jobs_[job]);
    if (const auto server = Find(demand)) {
      Hold(job, *server, demand);
      return true;
    }
    if (jobs_[job].gpus <= largest_.gpus) return false;
    return Split(job, demand);
  }

  // Places a job that is larger than any server on the emptiest servers.
  bool Split(JobIndex job, const ResourceVector& demand) {
    Gpus left = demand.gpus;
    while (left > Gpus(0)) {
      const Gpus part = std::min(left, largest_.gpus);
      const ResourceVector amount = PartOf(demand, part, demand.gpus);
      const auto server = Find(amount);
      if (!server) break;
      Hold(job, *server, amount);
      left -= part;
    }
    if (left == Gpus(0)) return true;
    for (const Share& share : plan_.shares[job]) packing_.Give(share.server, share.amount);
    plan_.shares[job].clear();
    return false;
  }

  GreedyOrder order_;
  std::span<const Server> servers_;
  std::span<const Job> jobs_;
  Packing packing_;
  ResourceVector largest_;
  ResourceVector total_;
  Plan plan_;
};

class Greedy final : public Allocator {
 public:
  explicit Greedy(GreedyOrder order) : order_(order) {}

  Plan Allocate(std::span<const Server> servers, std::span<const Job> jobs,
                std::span<const JobIndex> order) override {
    return GreedyRound(order_, servers, jobs).Run(order);
  }

 private:
  GreedyOrder order_;
};

}  // namespace

std::unique_ptr<Allocator> MakeGreedy(GreedyOrder order) { return std::make_unique<Greedy>(order); }

}  // namespace synergy
