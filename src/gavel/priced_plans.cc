#include "gavel/priced_plans.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "gavel/cost_hulls.h"
#include "solver/best_mean.h"
#include "solver/program.h"

namespace synergy {
namespace {

// All relative. The search ends when no other plan is better by more than this.
constexpr double kProof = 1e-8;
// The same, once rounding in the master program blocks progress.
constexpr double kProofWhenStalled = 1e-6;
// A smaller step counts as no progress.
constexpr double kSmallestStep = 1e-11;
constexpr double kSmallestValue = 1e-3;  // the level may be 0; normally it is about 1
constexpr int kMostPlans = 600;
constexpr double kNoSlope = 1e-6;  // relative to the total of all jobs' slopes, which is 1
constexpr double kBend = 1e-9;     // relative distance from a throughput that may be at a bend

struct Plan {
  std::vector<double> prices;  // at which the plan was made
  double level = 0;            // for MaxMin
};

// The common part of both programs. `Pricer` has LevelAt(hulls), the level of the best plan at the
// hulls' prices, and Throughput(hulls, plan, job) in that plan.
template <class Pricer>
class Search {
 public:
  Search(const GavelProblem& problem, const Pricer& pricer, CostHulls hulls,
         const GavelShares& known, double known_value)
      : problem_(problem),
        pricer_(pricer),
        known_(known),
        hulls_(std::move(hulls)),
        mean_(problem.types.size()) {
    std::vector<double> usage(problem.types.size(), 0);
    for (size_t job = 0; job < problem.jobs.size(); ++job) {
      for (size_t type = 0; type < usage.size(); ++type)
        usage[type] += problem.jobs[job].gpus * known.jobs[job][type];
    }
    // Correct the rounding of the solver that found the shares.
    for (size_t type = 0; type < usage.size(); ++type)
      usage[type] = std::min(usage[type], problem.gpus[type]);
    AddToMean(known_value, std::move(usage));
  }

  // Returns whether the search ended with a proof.
  bool Run(PriceMemory* memory) {
    if (memory != nullptr) {
      for (const std::vector<double>& prices : *memory) {
        if (prices.size() == problem_.types.size()) Add(MakePlan(prices));
      }
    }
    double before = -kUnbounded;
    for (int step = 0; step < kMostPlans; ++step) {
      if (!mean_.Solve()) return false;
      PricedPlan made = MakePlan(Prices());
      const double size = std::max(std::abs(mean_.value()), kSmallestValue);
      const double better = made.surplus - mean_.own_price();
      const bool stalls = mean_.value() - before <= kSmallestStep * size;
      if (better <= (stalls ? kProofWhenStalled : kProof) * size) {
        if (memory != nullptr) *memory = PricesInUse();
        return true;
      }
      before = mean_.value();
      Add(std::move(made));
    }
    return false;
  }

  GavelShares Shares() {
    GavelShares shares = NoShares(problem_);
    const std::vector<double>& weights = mean_.weights();
    for (size_t job = 0; job < known_.jobs.size(); ++job) {
      for (size_t type = 0; type < problem_.types.size(); ++type)
        shares.jobs[job][type] = weights[0] * known_.jobs[job][type];
    }
    for (size_t i = 0; i < plans_.size(); ++i) {
      if (weights[i + 1] <= 0) continue;
      hulls_.SetPrices(plans_[i].prices);
      for (size_t job = 0; job < problem_.jobs.size(); ++job) {
        CostHulls::Take(hulls_.Of(job), pricer_.Throughput(hulls_, plans_[i], job), weights[i + 1],
                        shares.jobs[job]);
      }
    }
    return shares;
  }

  // Returns the hulls at the final prices.
  const CostHulls& FinalHulls() {
    hulls_.SetPrices(Prices());
    return hulls_;
  }

  double value() const { return mean_.value(); }

 private:
  struct PricedPlan {
    Plan plan;
    std::vector<double> usage;  // GPUs per type
    double value = 0;
    double surplus = 0;  // the value minus the cost of the usage
  };

  PricedPlan MakePlan(const std::vector<double>& prices) {
    hulls_.SetPrices(prices);
    PricedPlan made{.plan = {.prices = prices, .level = pricer_.LevelAt(hulls_)},
                    .usage = std::vector<double>(problem_.types.size(), 0)};
    made.surplus = made.plan.level;
    for (size_t job = 0; job < problem_.jobs.size(); ++job) {
      made.surplus -= CostHulls::Take(hulls_.Of(job), pricer_.Throughput(hulls_, made.plan, job),
                                      problem_.jobs[job].gpus, made.usage);
    }
    made.value = made.surplus;
    for (size_t type = 0; type < prices.size(); ++type)
      made.value += made.usage[type] * prices[type];
    return made;
  }

  void Add(PricedPlan made) {
    AddToMean(made.value, std::move(made.usage));
    plans_.push_back(std::move(made.plan));
  }

  void AddToMean(double value, std::vector<double> usage) {
    for (size_t type = 0; type < usage.size(); ++type) {
      if (usage[type] > 0) usage[type] /= problem_.gpus[type];
    }
    mean_.Add(value, usage);
  }

  // Returns prices per GPU.
  std::vector<double> Prices() const {
    std::vector<double> prices = mean_.prices();
    for (size_t type = 0; type < prices.size(); ++type)
      prices[type] = problem_.gpus[type] > 0 ? prices[type] / problem_.gpus[type] : 0;
    return prices;
  }

  // Returns the prices of the plans in the mean, followed by the last prices.
  PriceMemory PricesInUse() const {
    PriceMemory prices;
    for (size_t i = 0; i < plans_.size(); ++i) {
      if (mean_.weights()[i + 1] > 0) prices.push_back(plans_[i].prices);
    }
    prices.push_back(Prices());
    return prices;
  }

  const GavelProblem& problem_;
  const Pricer& pricer_;
  const GavelShares& known_;
  CostHulls hulls_;
  BestMean mean_;
  std::vector<Plan> plans_;
};

// The level at which the cost begins to grow faster, with the increase of its slope.
using Bend = std::pair<double, double>;

// Returns the level at which the cost has grown by `growth`; unbounded if there is none. Sorts only
// as many bends as necessary, so that the time is linear in their number.
double LevelOfGrowth(std::vector<Bend>& bends, double growth) {
  auto begin = bends.begin();
  auto end = bends.end();
  while (end - begin > 1) {
    const auto middle = begin + (end - begin) / 2;
    std::nth_element(begin, middle, end);
    double before = 0;
    for (auto bend = begin; bend != middle; ++bend) before += bend->second;
    if (before >= growth) {
      end = middle;
    } else {
      growth -= before;
      begin = middle;
    }
  }
  return begin != end && begin->second >= growth ? begin->first : kUnbounded;
}

// Finds the level at which raising it by one costs 1.
class LevelPricer {
 public:
  LevelPricer(const GavelProblem& problem, std::span<const double> base,
              std::span<const double> rise, double highest = kUnbounded)
      : base_(base), rise_(rise), highest_(highest) {
    for (size_t job = 0; job < rise.size(); ++job) {
      best_.push_back(0);
      for (size_t type = 0; type < problem.types.size(); ++type) {
        if (problem.gpus[type] > 0)
          best_[job] = std::max(best_[job], problem.jobs[job].throughput[type]);
      }
      if (rise[job] > 0) highest_ = std::min(highest_, (best_[job] - base[job]) / rise[job]);
    }
    highest_ = std::max(highest_, 0.0);
  }

  double LevelAt(const CostHulls& hulls) const {
    std::vector<Bend> bends;
    bends.reserve(rise_.size() * 2);
    double growth = 0;
    for (size_t job = 0; job < rise_.size(); ++job) {
      if (rise_[job] <= 0) continue;
      const std::span<const CostHulls::Vertex> hull = hulls.Of(job);
      double last = 0;
      for (size_t i = 0; i + 1 < hull.size(); ++i) {
        const double slope = rise_[job] * CostHulls::Slope(hull, i);
        const double level = (hull[i].throughput - base_[job]) / rise_[job];
        if (level >= highest_) break;
        if (level <= 0) {
          growth += slope - last;
        } else {
          bends.emplace_back(level, slope - last);
        }
        last = slope;
      }
    }
    if (growth >= 1) return 0;
    return std::min(LevelOfGrowth(bends, 1 - growth), highest_);
  }

  double Throughput(const CostHulls& /*hulls*/, const Plan& plan, size_t job) const {
    return std::min(base_[job] + plan.level * rise_[job], best_[job]);
  }

  double best(size_t job) const { return best_[job]; }

 private:
  std::span<const double> base_;
  std::span<const double> rise_;
  std::vector<double> best_;
  double highest_;
};

// Gives each job the throughput of greatest value at the hulls' prices, which include the gains,
// but at least its floor.
class SumPricer {
 public:
  explicit SumPricer(std::span<const double> floors) : floors_(floors) {}

  double LevelAt(const CostHulls& /*hulls*/) const { return 0; }

  double Throughput(const CostHulls& hulls, const Plan& /*plan*/, size_t job) const {
    const std::span<const CostHulls::Vertex> hull = hulls.Of(job);
    size_t i = 0;
    while (i + 1 < hull.size() && CostHulls::Slope(hull, i) < 0) ++i;
    return std::max(std::min(floors_[job], hull.back().throughput), hull[i].throughput);
  }

 private:
  std::span<const double> floors_;
};

// Returns the greatest level that the shares give to every job.
double LevelOf(const GavelProblem& problem, std::span<const double> base,
               std::span<const double> rise, const GavelShares& shares) {
  const std::vector<double> throughputs = ThroughputsOf(problem, shares);
  double level = kUnbounded;
  for (size_t job = 0; job < rise.size(); ++job) {
    if (rise[job] > 0) level = std::min(level, (throughputs[job] - base[job]) / rise[job]);
  }
  return std::max(level, 0.0);
}

}  // namespace

std::optional<MaxMinAnswer> MaxMinByPrices(const GavelProblem& problem,
                                           std::span<const double> base,
                                           std::span<const double> rise, const GavelShares& known,
                                           PriceMemory* memory) {
  // Scale the level to about 1.
  double unit = 0;
  for (size_t job = 0; job < rise.size(); ++job)
    unit = std::max(unit, rise[job] / BestThroughput(problem.jobs[job]));
  std::vector<double> scaled;
  for (const double each : rise) scaled.push_back(each / unit);
  const LevelPricer pricer(problem, base, scaled);
  Search<LevelPricer> search(problem, pricer, CostHulls(problem), known,
                             LevelOf(problem, base, scaled, known));
  if (!search.Run(memory)) return std::nullopt;
  const double level = search.value();
  MaxMinAnswer answer{.level = level / unit, .shares = search.Shares(), .prices = {}};
  const CostHulls& hulls = search.FinalHulls();
  bool is_any_priced = false;
  for (size_t job = 0; job < rise.size(); ++job) {
    const double throughput = base[job] + level * scaled[job];
    double price = 0;
    if (scaled[job] > 0) {
      const std::span<const CostHulls::Vertex> hull = hulls.Of(job);
      // At a bend the slope is ambiguous; take the one below it.
      const double less = throughput * (1 - kBend);
      price = scaled[job] * CostHulls::Slope(hull, CostHulls::SegmentTo(hull, less));
      if (throughput >= pricer.best(job) * (1 - kBend)) price = 1;  // has only its best type
    }
    if (price <= kNoSlope) price = 0;
    is_any_priced = is_any_priced || price > 0;
    answer.prices.push_back(price);
  }
  if (!is_any_priced) return std::nullopt;
  return answer;
}

std::optional<GavelShares> ReachByPrices(const GavelProblem& problem,
                                         std::span<const double> floors, PriceMemory* memory) {
  const GavelShares nothing = NoShares(problem);
  const std::vector<double> none(floors.size(), 0);
  const LevelPricer pricer(problem, none, floors, 1);
  Search<LevelPricer> search(problem, pricer, CostHulls(problem), nothing, 0);
  if (!search.Run(memory) || search.value() < 1 - kProof) return std::nullopt;
  return search.Shares();
}

std::optional<GavelShares> GreatestSumByPrices(const GavelProblem& problem,
                                               std::span<const double> floors,
                                               std::vector<double> gains, const GavelShares& known,
                                               PriceMemory* memory) {
  // Scale the sum to about 1.
  const size_t types = problem.types.size();
  double most = 0;
  for (size_t job = 0; job < floors.size(); ++job)
    most += *std::max_element(&gains[job * types], &gains[job * types] + types);
  double value = 0;
  for (size_t job = 0; job < floors.size(); ++job) {
    for (size_t type = 0; type < types; ++type) {
      double& gain = gains[job * types + type];
      gain /= most;
      value += gain * known.jobs[job][type];
    }
  }
  const SumPricer pricer(floors);
  Search<SumPricer> search(problem, pricer, CostHulls(problem, std::move(gains)), known, value);
  if (!search.Run(memory)) return std::nullopt;
  return search.Shares();
}

}  // namespace synergy
