#include "sim/gavel/gavel_simulator.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "gavel/policies.h"
#include "gavel/round_mechanism.h"

namespace synergy {
namespace {

constexpr GavelRoundOptions kRounds = {.newcomers = GavelNewcomers::kIdle};

GavelRoundOptions RoundsOf(std::string_view policy) {
  GavelRoundOptions options = kRounds;
  options.fifo = policy.starts_with("fifo");
  return options;
}

class Simulation {
 public:
  Simulation(std::span<const GavelTraceJob> jobs, const GavelOptions& options, GavelPolicy& policy)
      : options_(options),
        policy_(policy),
        mechanism_(options.gpus, RoundsOf(options.policy)),
        arrivals_(jobs.size()) {
    std::iota(arrivals_.begin(), arrivals_.end(), size_t{0});
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

  Result<GavelRun> Run(const GavelThroughputs& throughputs) {
    for (Job& job : jobs_) {
      auto found = Usable(*job.asked, throughputs);
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
      const std::vector<GavelPick> picks = mechanism_.Picks();
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
    std::vector<double> throughput;  // per type
    double left = 0;                 // iterations
  };

  // 0 where a round would not be enough for one iteration.
  Result<std::vector<double>> Usable(const GavelTraceJob& job,
                                     const GavelThroughputs& throughputs) const {
    auto rates = throughputs.Of(job.model, job.gpus, options_.types);
    if (!rates) {
      return Fail(rates.error().code, fmt::format("job {}: {}", job.id, rates.error().message));
    }
    bool runs = false;
    for (size_t type = 0; type < rates->size(); ++type) {
      double& rate = (*rates)[type];
      if (rate * kRounds.round < 1) rate = 0;
      runs = runs || (rate > 0 && options_.gpus[type] >= static_cast<double>(job.gpus));
    }
    if (runs) return rates;
    return Fail(ErrorCode::kInvalid,
                fmt::format("job {}: {} on {} GPUs runs on no type that has as many: leave it out, "
                            "or give types ({}) more GPUs",
                            job.id, job.model, job.gpus, fmt::join(options_.types, ", ")));
  }

  double NextArrival() const {
    return next_ < arrivals_.size() ? jobs_[arrivals_[next_]].asked->submitted.count()
                                    : std::numeric_limits<double>::infinity();
  }

  void Arrive() {
    for (; NextArrival() <= now_; ++next_) {
      const Job& job = jobs_[arrivals_[next_]];
      active_.push_back(arrivals_[next_]);
      mechanism_.Add(job.name, static_cast<double>(job.asked->gpus), job.throughput);
    }
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
      shares.push_back({problem.jobs[job].name, answer->shares.jobs[job]});
    }
    mechanism_.Solved(now_, shares);
    solved_at_ = now_;
    ++run_.solves;
    if (options_.tell_solve) {
      options_.tell_solve({.at = Seconds(now_), .problem = problem, .answer = *answer});
    }
    return {};
  }

  // A round.
  void Work(const std::vector<GavelPick>& picks) {
    double end = now_;
    for (const GavelPick& pick : picks) {
      const size_t index = by_name_.at(pick.job);
      Job& job = jobs_[index];
      const double rate = job.throughput[pick.type];
      const double steps = std::min(std::floor(kRounds.round * rate), job.left);
      const double seconds = steps / rate;
      JobTimes& times = run_.jobs[index];
      if (!times.started) times.started = Seconds(now_);
      mechanism_.Book(pick.job, pick.type, seconds);
      end = std::max(end, now_ + seconds);
      job.left -= steps;
      if (job.left > 0) continue;
      times.finished = Seconds(now_ + seconds);
      mechanism_.Remove(pick.job);
      std::erase(active_, index);
      ++finished_;
      if (options_.tell_finished) options_.tell_finished(finished_);
    }
    now_ = end;
    ++run_.rounds;
  }

  const GavelOptions& options_;
  GavelPolicy& policy_;
  RoundMechanism mechanism_;
  std::vector<Job> jobs_;
  std::unordered_map<std::string, size_t> by_name_;
  std::vector<size_t> arrivals_;  // the jobs' positions
  size_t next_ = 0;
  std::vector<size_t> active_;  // by arrival
  double now_ = 0;
  double solved_at_ = 0;
  size_t finished_ = 0;
  GavelRun run_;
};

}  // namespace

Result<GavelRun> SimulateGavel(std::span<const GavelTraceJob> jobs,
                               const GavelThroughputs& throughputs, const GavelOptions& options) {
  if (options.policy.find("_packed") != std::string::npos) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("{}: rounds place single jobs only, no pairs: take the policy without "
                            "_packed",
                            options.policy));
  }
  const Result<std::unique_ptr<GavelPolicy>> policy = MakeGavelPolicy(options.policy);
  if (!policy) return Fail(policy.error());
  return Simulation(jobs, options, **policy).Run(throughputs);
}

}  // namespace synergy
