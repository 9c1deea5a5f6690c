#include "research/gavel/gavel_simulator.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/random.h"
#include "gavel/policies/policies.h"
#include "gavel/round_mechanism.h"

namespace synergy {
namespace {

constexpr GavelRoundOptions kRounds = {.newcomers = GavelNewcomers::kIdle};

GavelRoundOptions RoundsOf(std::string_view policy) {
  GavelRoundOptions options = kRounds;
  options.fifo = policy.starts_with("fifo");
  return options;
}

bool IsPacked(std::string_view policy) { return policy.find("_packed") != std::string_view::npos; }

bool IsAware(std::string_view policy) {
  return IsPacked(policy) || policy.find("_perf") != std::string_view::npos;
}

bool IsTooSlow(double rate) { return rate * kRounds.round < 1; }

class Simulation {
 public:
  Simulation(std::span<const GavelTraceJob> jobs, const GavelThroughputs& throughputs,
             const GavelOptions& options, GavelPolicy& policy)
      : throughputs_(throughputs),
        options_(options),
        policy_(policy),
        packs_(IsPacked(options.policy)),
        mechanism_(options.gpus, RoundsOf(options.policy)),
        arrivals_(jobs.size()),
        order_(options.types.size()) {
    std::iota(arrivals_.begin(), arrivals_.end(), size_t{0});
    std::iota(order_.begin(), order_.end(), size_t{0});
    std::stable_sort(arrivals_.begin(), arrivals_.end(),
                     [&](size_t a, size_t b) { return jobs[a].submitted < jobs[b].submitted; });
    for (const GavelTraceJob& job : jobs) {
      jobs_.push_back({.asked = &job,
                       .name = fmt::format("{}", job.id),
                       .throughput = {},
                       .left = static_cast<double>(job.steps)});
      run_.jobs.push_back({.id = job.id, .submitted = job.submitted});
      by_name_.emplace(jobs_.back().name, jobs_.size() - 1);
    }
  }

  Result<GavelRun> Run() {
    for (Job& job : jobs_) {
      auto found = Usable(*job.asked);
      if (!found) return Fail(found.error());
      job.throughput = *std::move(found);
    }
    while (next_ < arrivals_.size() || !active_.empty()) {
      if (active_.empty()) now_ = std::max(now_, NextArrival());
      Arrive();
      if (mechanism_.SolveIsDue(now_)) {
        const auto solved = Solve();
        if (!solved) return Fail(solved.error());
      }
      if (!IsAware(options_.policy)) ShuffleTypes();
      const std::vector<GavelPick> picks = mechanism_.Picks({}, order_);
      if (picks.empty()) {
        now_ = std::min(NextArrival(), solved_at_ + kRounds.between_solves);
      } else {
        Work(picks);
      }
    }
    return std::move(run_);
  }

 private:
  struct Job {
    const GavelTraceJob* asked = nullptr;
    std::string name;
    std::vector<double> throughput;  // for each type
    double left = 0;                 // iterations
  };

  using Together = GavelThroughputs::Together;

  // Two jobs in the cluster that may share GPUs.
  struct Pair {
    size_t first = 0;  // the one that arrived before the second
    size_t second = 0;
    const Together* rates = nullptr;  // for each type
  };

  // Returns 0 for each type on which a round is too short for one iteration.
  Result<std::vector<double>> Usable(const GavelTraceJob& job) const {
    auto rates = throughputs_.Of(job.model, job.gpus, options_.types);
    if (!rates) {
      return Fail(rates.error().code, fmt::format("job {}: {}", job.id, rates.error().message));
    }
    bool runs = false;
    for (size_t type = 0; type < rates->size(); ++type) {
      double& rate = (*rates)[type];
      if (IsTooSlow(rate)) rate = 0;
      runs = runs || (rate > 0 && options_.gpus[type] >= static_cast<double>(job.gpus));
    }
    if (runs) return rates;
    return Fail(ErrorCode::kInvalid,
                fmt::format("job {}: {} on {} GPUs runs on no type with enough GPUs: remove the "
                            "job, or set more GPUs for types ({})",
                            job.id, job.model, job.gpus, fmt::join(options_.types, ", ")));
  }

  double NextArrival() const {
    return next_ < arrivals_.size() ? jobs_[arrivals_[next_]].asked->submitted.count()
                                    : std::numeric_limits<double>::infinity();
  }

  void Arrive() {
    for (; NextArrival() <= now_; ++next_) {
      const Job& job = jobs_[arrivals_[next_]];
      mechanism_.Add(job.name, static_cast<double>(job.asked->gpus), job.throughput);
      if (packs_) PairUp(arrivals_[next_]);
      active_.push_back(arrivals_[next_]);
    }
  }

  // Makes pairs of the job and the active ones.
  void PairUp(size_t job) {
    for (const size_t other : active_) {
      const Together* const rates = RatesTogether(*jobs_[other].asked, *jobs_[job].asked);
      if (rates == nullptr) continue;
      std::vector<bool> runs;
      for (const auto& [first, second] : *rates) runs.push_back(first > 0 && second > 0);
      pairs_.push_back({other, job, rates});
      mechanism_.AddPair(jobs_[other].name, jobs_[job].name, std::move(runs));
    }
  }

  // Returns rates for each type; null if the two run together on none. Only jobs with one GPU were
  // measured together.
  const Together* RatesTogether(const GavelTraceJob& first, const GavelTraceJob& second) {
    if (first.gpus != 1 || second.gpus != 1) return nullptr;
    const auto [cached, is_new] = together_.try_emplace({first.model, second.model});
    Together& rates = cached->second;
    if (is_new) {
      rates = throughputs_.OfPair(first.model, second.model, options_.types).value_or(Together());
      for (auto& each : rates) {
        if (IsTooSlow(each[0]) || IsTooSlow(each[1])) each = {0, 0};
      }
    }
    const bool runs = std::any_of(rates.begin(), rates.end(),
                                  [](const std::array<double, 2>& each) { return each[0] > 0; });
    return runs ? &rates : nullptr;
  }

  GavelProblem Problem() const {
    GavelProblem problem{.types = options_.types,
                         .gpus = options_.gpus,
                         .costs = options_.costs,
                         .jobs = {},
                         .pairs = {},
                         .entities = {}};
    for (const size_t index : active_) {
      const Job& job = jobs_[index];
      GavelJob& asked = problem.jobs.emplace_back();
      asked.name = job.name;
      asked.gpus = static_cast<double>(job.asked->gpus);
      asked.weight = job.asked->weight;
      asked.throughput = job.throughput;
      asked.steps_left = job.left;
      asked.waited = now_ - job.asked->submitted.count();
      if (job.asked->slo) {
        const double alone = static_cast<double>(job.asked->steps) / BestThroughput(asked);
        asked.deadline = std::max(0.0, *job.asked->slo * alone - asked.waited);
      }
    }
    std::unordered_map<size_t, size_t> positions;
    for (size_t i = 0; i < active_.size(); ++i) positions.emplace(active_[i], i);
    for (const Pair& pair : pairs_) {
      problem.pairs.push_back({.first = positions.at(pair.first),
                               .second = positions.at(pair.second),
                               .throughput = *pair.rates});
    }
    return problem;
  }

  Result<> Solve() {
    const GavelProblem problem = Problem();
    const Result<GavelAnswer> answer = policy_.Allocate(problem);
    if (!answer) {
      return Fail(answer.error().code,
                  fmt::format("{} at {} s: {}", options_.policy, now_, answer.error().message));
    }
    std::vector<RoundMechanism::Shares> shares;
    for (size_t job = 0; job < problem.jobs.size(); ++job) {
      shares.push_back({problem.jobs[job].name, answer->shares.jobs[job], {}});
    }
    for (size_t i = 0; i < answer->shares.pairs.size(); ++i) {
      const std::vector<double>& row = answer->shares.pairs[i];
      if (*std::max_element(row.begin(), row.end()) <= 0) continue;
      const GavelPair& pair = problem.pairs[i];
      shares.push_back({problem.jobs[pair.first].name, row, problem.jobs[pair.second].name});
    }
    mechanism_.Solved(now_, shares);
    solved_at_ = now_;
    ++run_.solves;
    if (options_.on_solve) {
      options_.on_solve({.at = Seconds(now_), .problem = problem, .answer = *answer});
    }
    return {};
  }

  void ShuffleTypes() {
    for (size_t left = order_.size(); left > 1; --left)
      std::swap(order_[left - 1], order_[random_.Below(left)]);
  }

  // Runs a round. Two jobs that share a GPU hold it until both have done their iterations; a job
  // that ends, ends then.
  void Work(const std::vector<GavelPick>& picks) {
    double end = now_;
    for (const GavelPick& pick : picks) {
      std::vector<std::pair<size_t, double>> runs;  // jobs and their speeds
      const size_t first = by_name_.at(pick.job);
      if (pick.partner.empty()) {
        runs.emplace_back(first, jobs_[first].throughput[pick.type]);
      } else {
        const size_t second = by_name_.at(pick.partner);
        const auto& rates = RatesTogether(*jobs_[first].asked, *jobs_[second].asked)->at(pick.type);
        runs = {{first, rates[0]}, {second, rates[1]}};
      }
      double longest = 0;
      for (const auto& [index, rate] : runs) {
        Job& job = jobs_[index];
        const double steps = std::min(std::floor(kRounds.round * rate), job.left);
        longest = std::max(longest, steps / rate);
        job.left -= steps;
        JobTimes& times = run_.jobs[index];
        if (!times.started) times.started = Seconds(now_);
      }
      mechanism_.Charge(pick.job, pick.type, longest, pick.partner);
      end = std::max(end, now_ + longest);
      for (const auto& [index, rate] : runs) {
        if (jobs_[index].left <= 0) Finish(index, now_ + longest);
      }
    }
    now_ = end;
    ++run_.rounds;
  }

  void Finish(size_t index, double at) {
    run_.jobs[index].finished = Seconds(at);
    mechanism_.Remove(jobs_[index].name);
    std::erase(active_, index);
    std::erase_if(pairs_,
                  [&](const Pair& pair) { return pair.first == index || pair.second == index; });
    ++finished_;
    if (options_.on_finished) options_.on_finished(finished_);
  }

  const GavelThroughputs& throughputs_;
  const GavelOptions& options_;
  GavelPolicy& policy_;
  bool packs_;
  RoundMechanism mechanism_;
  std::vector<Job> jobs_;
  std::unordered_map<std::string, size_t> by_name_;
  std::vector<size_t> arrivals_;  // positions of jobs
  size_t next_ = 0;
  std::vector<size_t> active_;                                        // by arrival
  std::vector<Pair> pairs_;                                           // pairs of active jobs
  std::map<std::pair<std::string, std::string>, Together> together_;  // by models
  std::vector<size_t> order_;  // types in the order in which they are visited
  Random random_{0};
  double now_ = 0;
  double solved_at_ = 0;
  size_t finished_ = 0;
  GavelRun run_;
};

}  // namespace

Result<GavelRun> SimulateGavel(std::span<const GavelTraceJob> jobs,
                               const GavelThroughputs& throughputs, const GavelOptions& options) {
  if (IsPacked(options.policy) && !throughputs.HasPairs()) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("{}: a table of throughputs has no pairs: use the published one, which "
                            "has pairs, or the policy without _packed",
                            options.policy));
  }
  const Result<std::unique_ptr<GavelPolicy>> policy = MakeGavelPolicy(options.policy);
  if (!policy) return Fail(policy.error());
  return Simulation(jobs, throughputs, options, **policy).Run();
}

}  // namespace synergy
