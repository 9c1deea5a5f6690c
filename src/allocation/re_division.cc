#include "allocation/re_division.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

namespace synergy {
namespace {

// Values are sums of ratios near 1; smaller differences count as equal.
constexpr double kEqual = 1e-9;

// A division among the first jobs only.
struct Partial {
  int64_t cpu = 0;
  int64_t memory = 0;
  double value = 0;
  uint32_t parent = 0;  // in the previous layer
  uint32_t choice = 0;
};

// Prices of a whole server's CPU and memory, in units of value.
struct Prices {
  double cpu = 0;
  double memory = 0;
};

class Search {
 public:
  Search(std::span<const std::span<const DivisionChoice>> jobs, MilliCpu cpu, Bytes memory,
         size_t max_partial)
      : jobs_(jobs),
        cpu_(std::max<int64_t>(cpu.count(), 0)),
        memory_(std::max<int64_t>(memory.count(), 0)),
        cpu_unit_(1.0 / static_cast<double>(std::max<int64_t>(cpu_, 1))),
        memory_unit_(1.0 / static_cast<double>(std::max<int64_t>(memory_, 1))),
        max_partial_(max_partial),
        order_(jobs.size()) {
    // Visit jobs with few choices first; a job with only one choice just takes room.
    std::iota(order_.begin(), order_.end(), size_t{0});
    std::stable_sort(order_.begin(), order_.end(),
                     [&](size_t a, size_t b) { return jobs_[a].size() < jobs_[b].size(); });
  }

  Division Run() {
    FindPrices();
    FindStart();
    FindRests();
    layers_.assign(1, {Partial{}});
    for (size_t at = 0; at < order_.size(); ++at) {
      layers_.push_back(Undominated(Extend(at)));
      Limit(at + 1);
    }
    return Best();
  }

 private:
  const std::span<const DivisionChoice>& At(size_t at) const { return jobs_[order_[at]]; }

  double Cost(const DivisionChoice& choice, const Prices& prices) const {
    return prices.cpu * static_cast<double>(choice.cpu.count()) * cpu_unit_ +
           prices.memory * static_cast<double>(choice.memory.count()) * memory_unit_;
  }

  const DivisionChoice& BestAt(std::span<const DivisionChoice> choices,
                               const Prices& prices) const {
    const DivisionChoice* best = &choices.front();
    double best_gain = best->value - Cost(*best, prices);
    for (const DivisionChoice& choice : choices.subspan(1)) {
      const double gain = choice.value - Cost(choice, prices);
      if (gain > best_gain) {
        best = &choice;
        best_gain = gain;
      }
    }
    return *best;
  }

  // Minimizes the Lagrangian dual, one price at a time. Its slope in a price is the amount of that
  // resource left when every job takes the choice that pays best.
  void FindPrices() {
    const auto left = [&](bool of_cpu) {
      double used = 0;
      for (const auto& choices : jobs_) {
        const DivisionChoice& choice = BestAt(choices, prices_);
        used += of_cpu ? static_cast<double>(choice.cpu.count()) * cpu_unit_
                       : static_cast<double>(choice.memory.count()) * memory_unit_;
      }
      return 1 - used;
    };
    const auto bisect = [&](double& price, bool of_cpu) {
      price = 0;
      if (left(of_cpu) >= 0) return;
      double low = 0;
      double high = 1;
      for (price = high; left(of_cpu) < 0 && high < 1e6; price = high) {
        low = high;
        high *= 4;
      }
      for (int step = 0; step < 16; ++step) {
        price = (low + high) / 2;
        (left(of_cpu) < 0 ? low : high) = price;
      }
      price = high;
    };
    for (int turn = 0; turn < 2; ++turn) {
      bisect(prices_.cpu, true);
      bisect(prices_.memory, false);
    }
  }

  // Finds a division to start from: the cheapest choices, then repeatedly the upgrade that pays
  // best.
  void FindStart() {
    std::vector<size_t> chosen(jobs_.size());
    int64_t cpu = 0;
    int64_t memory = 0;
    double value = 0;
    const Prices even{1 + prices_.cpu, 1 + prices_.memory};
    for (size_t job = 0; job < jobs_.size(); ++job) {
      const auto cheapest = std::min_element(
          jobs_[job].begin(), jobs_[job].end(),
          [&](const auto& a, const auto& b) { return Cost(a, even) < Cost(b, even); });
      chosen[job] = static_cast<size_t>(cheapest - jobs_[job].begin());
      cpu += cheapest->cpu.count();
      memory += cheapest->memory.count();
      value += cheapest->value;
    }
    if (cpu > cpu_ || memory > memory_) return;
    while (true) {
      double best_worth = 0;
      size_t best_job = 0;
      size_t best_choice = 0;
      for (size_t job = 0; job < jobs_.size(); ++job) {
        const DivisionChoice& now = jobs_[job][chosen[job]];
        for (size_t k = 0; k < jobs_[job].size(); ++k) {
          const DivisionChoice& then = jobs_[job][k];
          if (then.value <= now.value + kEqual || cpu - now.cpu.count() + then.cpu.count() > cpu_ ||
              memory - now.memory.count() + then.memory.count() > memory_) {
            continue;
          }
          const double worth =
              (then.value - now.value) / std::max(Cost(then, even) - Cost(now, even), 1e-6);
          if (worth > best_worth) {
            best_worth = worth;
            best_job = job;
            best_choice = k;
          }
        }
      }
      if (best_worth <= 0) break;
      const DivisionChoice& now = jobs_[best_job][chosen[best_job]];
      const DivisionChoice& then = jobs_[best_job][best_choice];
      cpu += then.cpu.count() - now.cpu.count();
      memory += then.memory.count() - now.memory.count();
      value += then.value - now.value;
      chosen[best_job] = best_choice;
    }
    start_ = Division{std::move(chosen), value, value};
  }

  // Computes for each position the highest gain of the remaining jobs at the prices.
  void FindRests() {
    rests_.assign(order_.size() + 1, 0);
    for (size_t at = order_.size(); at-- > 0;) {
      const DivisionChoice& best = BestAt(At(at), prices_);
      rests_[at] = rests_[at + 1] + best.value - Cost(best, prices_);
    }
  }

  // Returns an upper bound for every completion of this division of the first `at` jobs.
  double Bound(const Partial& partial, size_t at) const {
    return partial.value + rests_[at] +
           prices_.cpu * static_cast<double>(cpu_ - partial.cpu) * cpu_unit_ +
           prices_.memory * static_cast<double>(memory_ - partial.memory) * memory_unit_;
  }

  std::vector<Partial> Extend(size_t at) const {
    const std::vector<Partial>& layer = layers_.back();
    const double to_beat = start_ ? start_->value + kEqual : -1;
    std::vector<Partial> next;
    for (uint32_t parent = 0; parent < layer.size(); ++parent) {
      for (uint32_t choice = 0; choice < At(at).size(); ++choice) {
        const DivisionChoice& taken = At(at)[choice];
        const Partial partial{layer[parent].cpu + taken.cpu.count(),
                              layer[parent].memory + taken.memory.count(),
                              layer[parent].value + taken.value, parent, choice};
        if (partial.cpu <= cpu_ && partial.memory <= memory_ && Bound(partial, at + 1) > to_beat) {
          next.push_back(partial);
        }
      }
    }
    return next;
  }

  // Keeps the divisions that are not dominated. A division dominates another if it takes no more of
  // either resource and is worth at least as much.
  static std::vector<Partial> Undominated(std::vector<Partial> partials) {
    std::sort(partials.begin(), partials.end(), [](const Partial& a, const Partial& b) {
      if (a.cpu != b.cpu) return a.cpu < b.cpu;
      if (a.memory != b.memory) return a.memory < b.memory;
      return a.value > b.value;
    });
    std::vector<Partial> kept;
    // Maps memory to the highest value with that much among the divisions seen so far, which use no
    // more CPU. Both ascend.
    std::map<int64_t, double> stairs;
    for (const Partial& partial : partials) {
      auto above = stairs.upper_bound(partial.memory);
      if (above != stairs.begin() && std::prev(above)->second >= partial.value - kEqual) continue;
      while (above != stairs.end() && above->second <= partial.value) above = stairs.erase(above);
      stairs.insert_or_assign(partial.memory, partial.value);
      kept.push_back(partial);
    }
    return kept;
  }

  // Keeps the most promising divisions if there are too many, and records the best value that a
  // dropped one could have had.
  void Limit(size_t at) {
    std::vector<Partial>& layer = layers_.back();
    if (layer.size() <= max_partial_) return;
    const auto middle = layer.begin() + static_cast<ptrdiff_t>(max_partial_);
    std::nth_element(layer.begin(), middle, layer.end(), [&](const Partial& a, const Partial& b) {
      return Bound(a, at) > Bound(b, at);
    });
    for (auto dropped = middle; dropped != layer.end(); ++dropped) {
      dropped_bound_ = std::max(dropped_bound_, Bound(*dropped, at));
    }
    layer.erase(middle, layer.end());
  }

  Division Best() const {
    const std::vector<Partial>& last = layers_.back();
    const auto best =
        std::max_element(last.begin(), last.end(),
                         [](const Partial& a, const Partial& b) { return a.value < b.value; });
    // The search omits divisions that are not better than the start.
    if (best == last.end() || (start_ && start_->value >= best->value)) {
      Division found = start_.value_or(Division{});
      found.bound = std::max(found.value, dropped_bound_);
      return found;
    }
    Division found{std::vector<size_t>(jobs_.size()), best->value,
                   std::max(best->value, dropped_bound_)};
    Partial at = *best;
    for (size_t layer = order_.size(); layer-- > 0;) {
      found.chosen[order_[layer]] = at.choice;
      at = layers_[layer][at.parent];
    }
    return found;
  }

  std::span<const std::span<const DivisionChoice>> jobs_;
  int64_t cpu_;
  int64_t memory_;
  double cpu_unit_;
  double memory_unit_;
  size_t max_partial_;
  std::vector<size_t> order_;  // the order in which the search visits jobs
  Prices prices_;
  std::optional<Division> start_;
  std::vector<double> rests_;
  std::vector<std::vector<Partial>> layers_;
  double dropped_bound_ = 0;
};

}  // namespace

Division Divide(std::span<const std::span<const DivisionChoice>> jobs, MilliCpu cpu, Bytes memory,
                size_t max_partial) {
  if (jobs.empty()) return {};
  return Search(jobs, cpu, memory, max_partial).Run();
}

}  // namespace synergy
