#include "engine/reservations/gpu_reservations.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace synergy {
namespace {

// The amounts of one node that no reservation has yet: free amounts, and amounts of jobs with known
// ends.
struct Supply {
  struct End {
    Instant likely{};
    Instant earliest{};
    size_t job = 0;
    ResourceVector amounts;
  };

  ResourceVector free;
  std::vector<End> ends;  // by likely end

  // Returns the amounts that are free at that time if no other job takes them.
  ResourceVector At(Instant time) const {
    ResourceVector sum = free;
    for (const End& end : ends) {
      if (end.likely <= time) sum += end.amounts;
    }
    return sum;
  }

  // Takes `amounts` that are free at `time`, and adds the jobs that must end first to `waits_for`.
  // Prefers the GPUs of the jobs that end last, so that other pods can use GPUs that are free
  // earlier. Takes CPU and memory from the same jobs, if they have enough. REQUIRES:
  // amounts.FitsWithin(At(time)).
  void Take(const ResourceVector& amounts, Instant time, std::set<size_t>& waits_for) {
    std::set<size_t> awaited;
    free.gpus -= TakeFromEnds(&ResourceVector::gpus, amounts.gpus, time, nullptr, awaited);
    ResourceVector::ForEachDivided([&](auto member) {
      const auto amount = TakeFromEnds(member, amounts.*member, time, &awaited, awaited);
      const auto part = std::min(free.*member, amount);
      free.*member -= part;
      TakeFromEnds(member, amount - part, time, nullptr, awaited);
    });
    waits_for.merge(awaited);
  }

 private:
  // Takes up to `amount` from jobs that end by `time`, only from those in `only` unless it is null.
  // Adds the jobs to `awaited`. Returns the amount still missing.
  template <class Amount>
  Amount TakeFromEnds(Amount ResourceVector::* member, Amount amount, Instant time,
                      const std::set<size_t>* only, std::set<size_t>& awaited) {
    const Amount zero{};
    for (auto end = ends.rbegin(); end != ends.rend() && amount > zero; ++end) {
      Amount& has = end->amounts.*member;
      if (end->likely > time || has <= zero) continue;
      if (only != nullptr && !only->contains(end->job)) continue;
      const Amount part = std::min(amount, has);
      has -= part;
      amount -= part;
      awaited.insert(end->job);
    }
    return amount;
  }
};

template <class Has>
ResourceVector VectorOf(const Has& has) {
  return {has.gpus, has.cpu, has.memory};
}

// Returns a key that orders amounts by GPUs first.
auto OrderOf(const ResourceVector& amounts) {
  return std::make_tuple(amounts.gpus, amounts.cpu, amounts.memory);
}
using Order = decltype(OrderOf({}));

// Returns how many pods fit into `room`, up to `most`. REQUIRES: the pod needs GPUs.
size_t CountOf(const ResourceVector& pod, const ResourceVector& room, size_t most) {
  size_t count = most;
  ResourceVector::ForEach([&](auto member) {
    const int64_t needed = (pod.*member).count();
    if (needed <= 0) return;
    count =
        std::min(count, static_cast<size_t>(std::max<int64_t>((room.*member).count(), 0) / needed));
  });
  return count;
}

ResourceVector TimesOf(const ResourceVector& pod, size_t count) {
  ResourceVector sum;
  ResourceVector::ForEach(
      [&](auto member) { sum.*member = pod.*member * static_cast<int64_t>(count); });
  return sum;
}

// Places on some nodes for one job.
struct Found {
  Instant likely{};
  std::map<size_t, Supply> left;  // of the nodes that it takes GPUs of
  std::map<size_t, ResourceVector> taken;
  std::set<size_t> waits_for;
};

using Nodes = std::vector<size_t>;

class Planner {
 public:
  Planner(const GpuCluster& cluster, std::span<const GpuReservation> before, Instant now)
      : cluster_(cluster), before_(before), now_(now), given_(cluster.products.size()) {
    nodes_of_.resize(cluster.products.size());
    for (size_t index = 0; index < cluster.nodes.size(); ++index) {
      const GpuNode& node = cluster.nodes[index];
      Supply& supply = supplies_.emplace_back(SupplyOf(node));
      if (!node.takes_pods) supply = {};
      empty_.push_back({.free = node.takes_pods ? VectorOf(node) : ResourceVector{}, .ends = {}});
      nodes_of_[node.product].push_back(index);
      by_name_.emplace(node.name, index);
    }
  }

  ReservationPlan Plan() {
    ReservationPlan plan;
    std::vector<size_t> order;
    for (size_t job = 0; job < cluster_.waiting.size(); ++job) order.push_back(job);
    const auto rank = [this](size_t job) {
      const WaitingGpuJob& waiting = cluster_.waiting[job];
      return std::make_tuple(-static_cast<int64_t>(waiting.priority), waiting.since,
                             std::string_view(waiting.name));
    };
    std::sort(order.begin(), order.end(),
              [&rank](size_t a, size_t b) { return rank(a) < rank(b); });
    plan.outcomes.resize(order.size());
    for (const size_t job : order)
      plan.outcomes[job] = Give(cluster_.waiting[job], plan.reservations);
    return plan;
  }

 private:
  Supply SupplyOf(const GpuNode& node) const {
    Supply supply{.free = VectorOf(node), .ends = {}};
    for (const GpuNode::Use& use : node.uses) {
      supply.free -= VectorOf(use);
      const std::optional<TimeRange>& ends = cluster_.running[use.job].ends;
      if (!ends) continue;
      supply.ends.push_back(
          {std::max(ends->likely, now_), std::max(ends->earliest, now_), use.job, VectorOf(use)});
    }
    // If the node has shrunk, its jobs may have more than the node.
    ResourceVector::ForEach(
        [&](auto member) { supply.free.*member = std::max(supply.free.*member, {}); });
    std::sort(supply.ends.begin(), supply.ends.end(), [](const auto& a, const auto& b) {
      return std::tie(a.likely, a.job) < std::tie(b.likely, b.job);
    });
    return supply;
  }

  ReservationOutcome Give(const WaitingGpuJob& job, std::vector<GpuReservation>& given) {
    ReservationOutcome outcome = ReservationOutcome::kOff;
    std::optional<Found> best;
    size_t best_product = 0;
    for (size_t product = 0; product < cluster_.products.size(); ++product) {
      std::optional<Found> found;
      outcome = std::max(outcome, Look(job, product, found));
      if (!found || (best && best->likely <= found->likely)) continue;
      best = std::move(found);
      best_product = product;
    }
    if (best) given.push_back(Keep(job, best_product, *std::move(best)));
    return outcome;
  }

  ReservationOutcome Look(const WaitingGpuJob& job, size_t product, std::optional<Found>& found) {
    const std::vector<bool>& allowed = cluster_.node_sets[job.nodes];
    const std::optional<ReservationSettings>& settings = cluster_.products[product];
    if (!settings) return ReservationOutcome::kOff;
    if (std::none_of(nodes_of_[product].begin(), nodes_of_[product].end(),
                     [&](size_t node) { return allowed[node]; }))
      return ReservationOutcome::kOff;
    Gpus gpus;
    for (const ResourceVector& pod : job.pods) gpus += pod.gpus;
    if (gpus <= Gpus(0) || gpus < settings->least_gpus) return ReservationOutcome::kFewGpus;
    if (now_ - job.since < settings->after) return ReservationOutcome::kNotYet;
    if (job.expects_nodes) return ReservationOutcome::kExpectsNodes;
    if (given_[product] >= settings->most) return ReservationOutcome::kOthersHaveAll;
    std::vector<ResourceVector> pods = job.pods;
    std::sort(pods.begin(), pods.end(), [](const ResourceVector& a, const ResourceVector& b) {
      return OrderOf(b) < OrderOf(a);
    });
    std::vector<Order> kind;
    for (const ResourceVector& pod : pods) kind.push_back(OrderOf(pod));
    // If a job found no places, a later job of the same kind finds none either.
    const auto failed = failed_.find({product, job.nodes, kind});
    if (failed != failed_.end()) return failed->second;
    if (tried_ >= kMostTriedJobs) return ReservationOutcome::kNotTried;
    ++tried_;
    Nodes nodes;
    for (const size_t node : nodes_of_[product]) {
      if (allowed[node]) nodes.push_back(node);
    }
    found = Find(pods, nodes, supplies_);
    if (!found) {
      const ReservationOutcome why =
          Find(pods, nodes, empty_) ? ReservationOutcome::kNoDates : ReservationOutcome::kNeverFits;
      failed_.emplace(std::make_tuple(product, job.nodes, std::move(kind)), why);
      return why;
    }
    Stay(job, product, *settings, pods, allowed, *found);
    return ReservationOutcome::kReserved;
  }

  // Replaces `found` with the job's present nodes, unless the nodes in `found` save enough time.
  void Stay(const WaitingGpuJob& job, size_t product, const ReservationSettings& settings,
            const std::vector<ResourceVector>& pods, const std::vector<bool>& allowed,
            Found& found) const {
    const auto last =
        std::find_if(before_.begin(), before_.end(), [&](const GpuReservation& reservation) {
          return reservation.job == job.name && reservation.product == product;
        });
    if (last == before_.end()) return;
    Nodes nodes;
    for (const GpuReservation::Place& place : last->places) {
      const auto node = by_name_.find(place.node);
      if (node == by_name_.end() || !allowed[node->second]) return;
      nodes.push_back(node->second);
    }
    std::sort(nodes.begin(), nodes.end());
    std::optional<Found> there = Find(pods, nodes, supplies_);
    if (!there) return;
    const Seconds wait = there->likely - now_;
    const Seconds least = std::max<Seconds>(settings.least_saving, wait * settings.least_gain);
    if (there->likely - found.likely < least) found = *std::move(there);
  }

  // Returns the places at which the pods, sorted from large to small, can start soonest.
  std::optional<Found> Find(const std::vector<ResourceVector>& pods, const Nodes& nodes,
                            const std::vector<Supply>& supplies) const {
    Found found{.likely = now_, .left = {}, .taken = {}, .waits_for = {}};
    for (auto from = pods.begin(); from != pods.end();) {
      const auto to =
          std::find_if(from, pods.end(), [&](const ResourceVector& pod) { return pod != *from; });
      if (!FindAlike(*from, static_cast<size_t>(to - from), nodes, supplies, found))
        return std::nullopt;
      from = to;
    }
    return found;
  }

  // Adds `count` pods like this one.
  bool FindAlike(const ResourceVector& pod, size_t count, const Nodes& nodes,
                 const std::vector<Supply>& supplies, Found& found) const {
    if (pod.gpus <= Gpus(0)) return true;
    const auto supply_of = [&](size_t node) -> const Supply& {
      const auto left = found.left.find(node);
      return left == found.left.end() ? supplies[node] : left->second;
    };
    std::vector<Instant> slots;  // when there is room for one more pod
    for (const size_t node : nodes) {
      const Supply& supply = supply_of(node);
      ResourceVector sum = supply.free;
      size_t have = 0;
      const auto add = [&](Instant time) {
        const size_t room = CountOf(pod, sum, count);
        for (; have < room; ++have) slots.push_back(time);
      };
      add(now_);
      for (const Supply::End& end : supply.ends) {
        sum += end.amounts;
        add(end.likely);
      }
    }
    if (slots.size() < count) return false;
    const auto last = slots.begin() + static_cast<std::ptrdiff_t>(count - 1);
    std::nth_element(slots.begin(), last, slots.end());
    const Instant time = *last;

    struct Site {
      size_t room = 0;  // number of pods that fit, up to `count`
      Gpus over;        // GPUs left beyond those pods
      size_t node = 0;
    };
    std::vector<Site> sites;
    for (const size_t node : nodes) {
      const ResourceVector free = supply_of(node).At(time);
      const size_t room = CountOf(pod, free, count);
      if (room > 0) sites.push_back({room, free.gpus - TimesOf(pod, room).gpus, node});
    }
    // Prefer the fewest nodes, and among nodes with equal room those with the fewest GPUs left.
    std::sort(sites.begin(), sites.end(), [](const Site& a, const Site& b) {
      return std::tie(b.room, a.over, a.node) < std::tie(a.room, b.over, b.node);
    });
    for (const Site& site : sites) {
      if (count == 0) break;
      const size_t here = std::min(site.room, count);
      const ResourceVector amount = TimesOf(pod, here);
      found.left.try_emplace(site.node, supplies[site.node])
          .first->second.Take(amount, time, found.waits_for);
      found.taken[site.node] += amount;
      count -= here;
    }
    found.likely = std::max(found.likely, time);
    return true;
  }

  // Returns the earliest time at which the node has these amounts free.
  Instant EarliestOf(const Supply& supply, const ResourceVector& amounts) const {
    std::vector<Supply::End> ends = supply.ends;
    std::sort(ends.begin(), ends.end(), [](const Supply::End& a, const Supply::End& b) {
      return std::tie(a.earliest, a.amounts.gpus) < std::tie(b.earliest, b.amounts.gpus);
    });
    ResourceVector sum = supply.free;
    Instant time = now_;
    for (auto end = ends.begin(); !amounts.FitsWithin(sum) && end != ends.end(); ++end) {
      sum += end->amounts;
      time = end->earliest;
    }
    return time;
  }

  GpuReservation Keep(const WaitingGpuJob& job, size_t product, Found found) {
    GpuReservation reservation;
    reservation.job = job.name;
    reservation.priority = job.priority;
    reservation.product = product;
    TimeRange& starts = reservation.starts;
    starts = {now_, found.likely, found.likely};
    for (const auto& [node, amounts] : found.taken) {
      reservation.places.push_back(
          {cluster_.nodes[node].name, amounts.gpus, amounts.cpu, amounts.memory});
      starts.earliest = std::max(starts.earliest, EarliestOf(supplies_[node], amounts));
      supplies_[node] = std::move(found.left.at(node));
    }
    starts.earliest = std::min(starts.earliest, starts.likely);
    std::sort(reservation.places.begin(), reservation.places.end(),
              [](const auto& a, const auto& b) { return a.node < b.node; });
    std::vector<size_t> jobs(found.waits_for.begin(), found.waits_for.end());
    std::stable_sort(jobs.begin(), jobs.end(), [this](size_t a, size_t b) {
      return cluster_.running[a].ends->likely < cluster_.running[b].ends->likely;
    });
    for (const size_t other : jobs) {
      reservation.waits_for.push_back(cluster_.running[other].name);
      starts.latest = std::max(starts.latest, cluster_.running[other].ends->latest);
    }
    ++given_[product];
    return reservation;
  }

  const GpuCluster& cluster_;
  const std::span<const GpuReservation> before_;
  const Instant now_;
  std::vector<size_t> given_;  // by product
  std::vector<Nodes> nodes_of_;
  std::vector<Supply> supplies_;  // by node
  std::vector<Supply> empty_;     // by node, if no job ran
  std::unordered_map<std::string_view, size_t> by_name_;
  std::map<std::tuple<size_t, size_t, std::vector<Order>>, ReservationOutcome> failed_;
  size_t tried_ = 0;
};

}  // namespace

ReservationPlan PlanReservations(const GpuCluster& cluster, std::span<const GpuReservation> before,
                                 Instant now) {
  return Planner(cluster, before, now).Plan();
}

bool LetsMorePass(std::span<const GpuReservation> before, std::span<const GpuReservation> after) {
  return !std::equal(before.begin(), before.end(), after.begin(), after.end(),
                     [](const GpuReservation& one, const GpuReservation& other) {
                       return one.job == other.job && one.places == other.places &&
                              one.waits_for == other.waits_for &&
                              other.starts.earliest - one.starts.earliest < std::chrono::minutes(1);
                     });
}

PassingVerdict MayTake(const PassingPod& pod, std::span<const GpuReservation> reservations,
                       std::string_view node, Gpus free, std::span<const HeldGpus> held,
                       Instant now) {
  struct Claim {
    const GpuReservation* reservation = nullptr;
    Gpus gpus;
  };
  std::vector<Claim> claims;
  Passing passes = Passing::kNotReserved;
  for (const GpuReservation& reservation : reservations) {
    const auto place =
        std::find_if(reservation.places.begin(), reservation.places.end(),
                     [&](const GpuReservation::Place& each) { return each.node == node; });
    if (place == reservation.places.end() || reservation.job == pod.job) continue;
    if (pod.has_no_other_node) return {Passing::kNoOtherNode};
    if (pod.priority > reservation.priority) {
      passes = std::max(passes, Passing::kHigherPriority);
    } else if (pod.longest && Later(now, *pod.longest) <= reservation.starts.earliest) {
      passes = std::max(passes, Passing::kEndsInTime);
    } else {
      claims.push_back({&reservation, place->gpus});
    }
  }
  if (claims.empty()) return {passes};
  std::stable_sort(claims.begin(), claims.end(), [](const Claim& a, const Claim& b) {
    return a.reservation->starts.likely < b.reservation->starts.likely;
  });
  // At each start there must be enough GPUs for this reservation and those before it, once the jobs
  // that they wait for have ended.
  Gpus needed;
  std::set<std::string_view> awaited;
  PassingVerdict verdict{.passing = Passing::kLeavesEnough};
  for (const Claim& claim : claims) {
    needed += claim.gpus;
    awaited.insert(claim.reservation->waits_for.begin(), claim.reservation->waits_for.end());
    Gpus there = free;
    for (const HeldGpus& each : held) {
      if (awaited.contains(each.job)) there += each.gpus;
    }
    const Gpus left = there - needed;
    if (verdict.by != nullptr && left >= verdict.open) continue;
    verdict.open = left;
    if (verdict.passing != Passing::kRefused) verdict.by = claim.reservation;
    if (left < pod.gpus) verdict.passing = Passing::kRefused;
  }
  return verdict;
}

}  // namespace synergy
