#include "gavel/priced_plans.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "gavel/cost_hulls.h"
#include "solver/growing_program.h"
#include "solver/program.h"

namespace synergy {
namespace {

// By how much of the value another plan could be better in the end; and where the master's own
// rounding keeps it from getting better.
constexpr double kProof = 1e-8;
constexpr double kProofAtRest = 1e-6;
constexpr double kRest = 1e-11;
constexpr double kSmallestValue = 1e-3;  // a level may be stuck at 0; about 1 is usual
// The solver's tolerance of prices is absolute: in larger units it sees smaller differences.
constexpr double kMasterUnit = 1e4;
constexpr int kMostPlans = 600;
constexpr double kNoSlope = 1e-6;  // of what all jobs' slopes are together, which is 1
constexpr double kBend = 1e-9;     // of a throughput: beside the bend it may lie on

struct Plan {
  double value = 0;
  std::vector<double> prices;  // that it was made at
  double level = 0;            // of MaxMin
};

// The best mean of the plans that fits, and its prices.
class PlanMaster {
 public:
  explicit PlanMaster(const GavelProblem& problem)
      : problem_(problem), program_(Sense::kMaximize, RowsOf(problem)) {}

  // `usage`: GPUs per type.
  void Add(double value, std::span<const double> usage) {
    std::vector<GrowingProgram::Entry> entries;
    for (size_t type = 0; type < usage.size(); ++type) {
      if (usage[type] > 0) entries.push_back({type, usage[type] / problem_.gpus[type]});
    }
    entries.push_back({usage.size(), 1});
    program_.Add({.objective = value * kMasterUnit}, entries);
  }

  bool Solve() {
    if (program_.Solve({}) != SolveStatus::kOptimal) return false;
    value_ = program_.objective() / kMasterUnit;
    weights_ = program_.Values();
    prices_ = program_.Prices();
    own_ = prices_.back() / kMasterUnit;
    prices_.pop_back();
    for (size_t type = 0; type < prices_.size(); ++type) {
      double& price = prices_[type];
      price =
          problem_.gpus[type] > 0 ? std::max(price, 0.0) / problem_.gpus[type] / kMasterUnit : 0;
    }
    return true;
  }

  double value() const { return value_; }
  double own() const { return own_; }  // the price of the row that makes it a mean
  const std::vector<double>& prices() const { return prices_; }
  const std::vector<double>& weights() const { return weights_; }

 private:
  // The types, as parts of their GPUs, and the weights' sum.
  static std::vector<Row> RowsOf(const GavelProblem& problem) {
    std::vector<Row> rows(problem.types.size(), {.upper = 1, .terms = {}});
    rows.push_back({.lower = 1, .upper = 1, .terms = {}});
    return rows;
  }

  const GavelProblem& problem_;
  GrowingProgram program_;
  double value_ = 0;
  double own_ = 0;
  std::vector<double> prices_;
  std::vector<double> weights_;
};

// What both programs have in common. `Pricer`: Best(hulls) -> Plan but for its prices, the best at
// the hulls' prices, and Throughput(hulls, plan, job) in it.
template <class Pricer>
class Search {
 public:
  Search(const GavelProblem& problem, const Pricer& pricer, const GavelShares& known,
         double known_value)
      : problem_(problem), pricer_(pricer), known_(known), hulls_(problem), master_(problem) {
    std::vector<double> usage(problem.types.size(), 0);
    for (size_t job = 0; job < problem.jobs.size(); ++job) {
      for (size_t type = 0; type < usage.size(); ++type)
        usage[type] += problem.jobs[job].gpus * known.jobs[job][type];
    }
    // The solver that found them may have rounded.
    for (size_t type = 0; type < usage.size(); ++type)
      usage[type] = std::min(usage[type], problem.gpus[type]);
    master_.Add(known_value, usage);
  }

  // Whether it ended with a proof.
  bool Run(PriceMemory* memory) {
    if (memory != nullptr) {
      for (const std::vector<double>& prices : *memory) {
        if (prices.size() == problem_.types.size()) Add(MakePlan(prices));
      }
    }
    double before = -kUnbounded;
    for (int step = 0; step < kMostPlans; ++step) {
      if (!master_.Solve()) return false;
      PricedPlan made = MakePlan(master_.prices());
      const double size = std::max(std::abs(master_.value()), kSmallestValue);
      const double better = made.plan.value - made.cost - master_.own();
      const bool rests = master_.value() - before <= kRest * size;
      if (better <= (rests ? kProofAtRest : kProof) * size) {
        if (memory != nullptr) *memory = PricesOfUse();
        return true;
      }
      before = master_.value();
      Add(std::move(made));
    }
    return false;
  }

  GavelShares Shares() {
    GavelShares shares = NoShares(problem_);
    const std::vector<double>& weights = master_.weights();
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

  // At the prices of the end.
  const CostHulls& FinalHulls() {
    hulls_.SetPrices(master_.prices());
    return hulls_;
  }

  const PlanMaster& master() const { return master_; }

 private:
  struct PricedPlan {
    Plan plan;
    std::vector<double> usage;
    double cost = 0;
  };

  PricedPlan MakePlan(const std::vector<double>& prices) {
    hulls_.SetPrices(prices);
    PricedPlan made{.plan = pricer_.Best(hulls_),
                    .usage = std::vector<double>(problem_.types.size(), 0)};
    made.plan.prices = prices;
    for (size_t job = 0; job < problem_.jobs.size(); ++job) {
      made.cost += CostHulls::Take(hulls_.Of(job), pricer_.Throughput(hulls_, made.plan, job),
                                   problem_.jobs[job].gpus, made.usage);
    }
    return made;
  }

  void Add(PricedPlan made) {
    master_.Add(made.plan.value, made.usage);
    plans_.push_back(std::move(made.plan));
  }

  // Those of the plans in the mean, and the last ones.
  PriceMemory PricesOfUse() const {
    PriceMemory prices;
    for (size_t i = 0; i < plans_.size(); ++i) {
      if (master_.weights()[i + 1] > 0) prices.push_back(plans_[i].prices);
    }
    prices.push_back(master_.prices());
    return prices;
  }

  const GavelProblem& problem_;
  const Pricer& pricer_;
  const GavelShares& known_;
  CostHulls hulls_;
  PlanMaster master_;
  std::vector<Plan> plans_;
};

// The level at which one more costs 1.
class LevelPricer {
 public:
  LevelPricer(const GavelProblem& problem, std::span<const double> base,
              std::span<const double> rise)
      : base_(base), rise_(rise), highest_(kUnbounded) {
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

  Plan Best(const CostHulls& hulls) const {
    // Where the cost of a level begins to grow faster, and by how much.
    std::vector<std::pair<double, double>> bends;
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
    Plan plan;
    if (growth >= 1) return plan;
    std::sort(bends.begin(), bends.end());
    plan.value = plan.level = highest_;
    for (const auto& [level, more] : bends) {
      growth += more;
      if (growth < 1) continue;
      plan.value = plan.level = level;
      break;
    }
    return plan;
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

// Each job as fast as is worth it, and at its floor at least.
class SumPricer {
 public:
  SumPricer(std::span<const double> floors, std::vector<double> gains)
      : floors_(floors), gains_(std::move(gains)) {}

  Plan Best(const CostHulls& hulls) const {
    Plan plan;
    for (size_t job = 0; job < gains_.size(); ++job)
      plan.value += gains_[job] * Throughput(hulls, plan, job);
    return plan;
  }

  double Throughput(const CostHulls& hulls, const Plan& /*plan*/, size_t job) const {
    const std::span<const CostHulls::Vertex> hull = hulls.Of(job);
    size_t i = 0;
    while (i + 1 < hull.size() && CostHulls::Slope(hull, i) < gains_[job]) ++i;
    return std::max(std::min(floors_[job], hull.back().throughput), hull[i].throughput);
  }

 private:
  std::span<const double> floors_;
  std::vector<double> gains_;
};

// To which the shares bring all jobs.
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
  // The level in units in which it is about 1.
  double unit = 0;
  for (size_t job = 0; job < rise.size(); ++job)
    unit = std::max(unit, rise[job] / BestThroughput(problem.jobs[job]));
  std::vector<double> scaled;
  for (const double each : rise) scaled.push_back(each / unit);
  const LevelPricer pricer(problem, base, scaled);
  Search<LevelPricer> search(problem, pricer, known, LevelOf(problem, base, scaled, known));
  if (!search.Run(memory)) return std::nullopt;
  const double level = search.master().value();
  MaxMinAnswer answer{.level = level / unit, .shares = search.Shares(), .prices = {}};
  const CostHulls& hulls = search.FinalHulls();
  bool somebody = false;
  for (size_t job = 0; job < rise.size(); ++job) {
    const double throughput = base[job] + level * scaled[job];
    double price = 0;
    if (scaled[job] > 0) {
      const std::span<const CostHulls::Vertex> hull = hulls.Of(job);
      // At a bend the price is that of less, which is sure.
      const double less = throughput * (1 - kBend);
      price = scaled[job] * CostHulls::Slope(hull, CostHulls::SegmentTo(hull, less));
      if (throughput >= pricer.best(job) * (1 - kBend)) price = 1;  // it has its best type alone
    }
    if (price <= kNoSlope) price = 0;
    somebody = somebody || price > 0;
    answer.prices.push_back(price);
  }
  if (!somebody) return std::nullopt;
  return answer;
}

std::optional<GavelShares> GreatestSumByPrices(const GavelProblem& problem,
                                               std::span<const double> floors,
                                               std::span<const double> gains,
                                               const GavelShares& known, PriceMemory* memory) {
  // The sum in units in which it is about 1.
  double most = 0;
  for (size_t job = 0; job < gains.size(); ++job)
    most += gains[job] * BestThroughput(problem.jobs[job]);
  const std::vector<double> throughputs = ThroughputsOf(problem, known);
  std::vector<double> scaled;
  double value = 0;
  for (size_t job = 0; job < gains.size(); ++job) {
    scaled.push_back(gains[job] / most);
    value += scaled.back() * throughputs[job];
  }
  const SumPricer pricer(floors, std::move(scaled));
  Search<SumPricer> search(problem, pricer, known, value);
  if (!search.Run(memory)) return std::nullopt;
  return search.Shares();
}

}  // namespace synergy
