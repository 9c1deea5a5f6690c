#include "research/optimus/elastic_simulator.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "queues/elastic.h"
#include "research/optimus/elastic_training.h"

namespace synergy {
namespace {

constexpr std::array<ElasticPolicyName, 4> kNames = {{
    {"optimus",
     "gives a worker to the job whose remaining time it shortens most, by fitted curves"},
    {"optimus-exact", "the same with the true curves and the true remaining iterations"},
    {"srtf",
     "least remaining time first, with the GPUs that jobs ask for; remaining times are known"},
    {"equal", "equally many workers for all jobs"},
}};

struct Job {
  ElasticTraining training;
  int asks = 1;     // workers that the job requests
  int workers = 0;  // workers since the last round
};

class ElasticSimulation {
 public:
  ElasticSimulation(std::span<const GavelTraceJob> jobs, const ElasticOptions& options)
      : asked_(jobs), options_(options) {}

  Result<ElasticRun> Run(const GavelThroughputs& throughputs) && {
    const auto made = MakeJobs(throughputs);
    if (!made) return Fail(made.error());
    double now = 0;
    const double round = options_.round.count();
    while (finished_ < jobs_.size()) {
      Admit(now);
      if (active_.empty()) {
        const double submitted = asked_[arrivals_[next_]].submitted.count();
        now = round * std::ceil(submitted / round);
        if (now < submitted) now += round;  // the quotient was rounded down
        continue;
      }
      Work(now, Divide());
      now += round;
      ++run_.rounds;
    }
    Seconds end{};
    for (const JobTimes& times : run_.jobs) end = std::max(end, *times.finished);
    if (end > Seconds(0)) run_.gpu_utilisation = held_ / (options_.gpus * end.count());
    return std::move(run_);
  }

 private:
  Result<> MakeJobs(const GavelThroughputs& throughputs) {
    for (const GavelTraceJob& asked : asked_) {
      const uint64_t seed = (options_.seed << 32) + static_cast<uint64_t>(asked.id);
      auto training = ElasticTraining::Make(asked, throughputs, options_.type, seed);
      if (!training) return Fail(training.error());
      if (asked.gpus > options_.gpus) {
        return Fail(ErrorCode::kInvalid, fmt::format("job {} asks for {} GPUs of {}", asked.id,
                                                     asked.gpus, options_.gpus));
      }
      jobs_.push_back({*std::move(training), static_cast<int>(asked.gpus)});
      JobTimes times;
      times.id = asked.id;
      times.submitted = asked.submitted;
      run_.jobs.push_back(times);
    }
    arrivals_.resize(jobs_.size());
    std::iota(arrivals_.begin(), arrivals_.end(), size_t{0});
    std::stable_sort(arrivals_.begin(), arrivals_.end(), [this](size_t one, size_t other) {
      return asked_[one].submitted < asked_[other].submitted;
    });
    return {};
  }

  void Admit(double now) {
    while (next_ < arrivals_.size() && asked_[arrivals_[next_]].submitted.count() <= now) {
      active_.push_back(arrivals_[next_++]);
    }
  }

  // Returns the number of workers of each active job.
  std::vector<int> Divide() {
    switch (options_.policy) {
      case ElasticPolicy::kOptimus:
      case ElasticPolicy::kOptimusExact:
        return DivideByGain();
      case ElasticPolicy::kSrtf:
        return DivideByRemainingTime();
      case ElasticPolicy::kEqual:
        return DivideEqually();
    }
    return {};
  }

  std::vector<int> DivideByGain() {
    const bool exact = options_.policy == ElasticPolicy::kOptimusExact;
    std::vector<ElasticTask> tasks;
    for (const size_t index : active_) {
      const Job& job = jobs_[index];
      const ElasticTraining& training = job.training;
      ElasticTask& task = tasks.emplace_back();
      task.least = training.least_workers();
      task.most = training.most_workers();
      task.now = job.workers;
      task.work = exact ? training.StepsLeft() : training.FittedStepsLeft();
      task.speed = exact ? training.TrueSpeedFitted() : training.FittedSpeed();
      task.created = WallTime(std::chrono::duration_cast<Duration>(asked_[index].submitted));
    }
    std::vector<int> workers;
    for (const ElasticVerdict& verdict :
         DivideWorkers(tasks, Gpus(options_.gpus), options_.restart_cost))
      workers.push_back(verdict.workers);
    return workers;
  }

  std::vector<int> DivideByRemainingTime() {
    std::vector<std::pair<double, size_t>> order;
    for (size_t i = 0; i < active_.size(); ++i) {
      const Job& job = jobs_[active_[i]];
      order.emplace_back(job.training.StepsLeft() / job.training.Speed(job.asks), i);
    }
    std::sort(order.begin(), order.end());
    std::vector<int> workers(active_.size());
    int free = options_.gpus;
    for (const auto& [remaining, i] : order) {
      const int asks = jobs_[active_[i]].asks;
      if (asks > free) continue;
      workers[i] = asks;
      free -= asks;
    }
    return workers;
  }

  std::vector<int> DivideEqually() {
    std::vector<int> workers(active_.size());
    int free = options_.gpus;
    for (bool grew = true; grew && free > 0;) {
      grew = false;
      for (size_t i = 0; i < active_.size(); ++i) {
        const ElasticTraining& training = jobs_[active_[i]].training;
        const int more = workers[i] == 0 ? training.least_workers() : 1;
        if (more > free || workers[i] + more > training.most_workers()) continue;
        workers[i] += more;
        free -= more;
        grew = true;
      }
    }
    return workers;
  }

  // Returns the seconds that the job loses before it continues with `workers`.
  double Lost(Job& job, int workers, bool first) {
    if (workers == job.workers) return 0;
    if (!first) {
      ++run_.restarts;
      return options_.restart_cost.count();
    }
    if (options_.policy != ElasticPolicy::kOptimus) return options_.restart_cost.count();
    job.training.Try();
    return options_.restart_cost.count() * static_cast<double>(job.training.sizes());
  }

  void Work(double now, const std::vector<int>& workers) {
    const double round = options_.round.count();
    std::vector<size_t> still_active;
    for (size_t i = 0; i < active_.size(); ++i) {
      Job& job = jobs_[active_[i]];
      JobTimes& times = run_.jobs[active_[i]];
      if (workers[i] == 0) {
        job.workers = 0;
        still_active.push_back(active_[i]);
        continue;
      }
      const double lost = std::min(Lost(job, workers[i], !times.started), round);
      job.workers = workers[i];
      if (!times.started) times.started = Seconds(now);
      const double needed = job.training.StepsLeft() / job.training.Speed(workers[i]);
      const bool ends = needed <= round - lost;
      held_ += workers[i] * (ends ? lost + needed : round);
      job.training.Run(workers[i], round - lost);
      if (!ends) {
        still_active.push_back(active_[i]);
        continue;
      }
      times.finished = Seconds(now + lost + needed);
      ++finished_;
      if (options_.on_finished) options_.on_finished(finished_);
    }
    active_ = std::move(still_active);
  }

  std::span<const GavelTraceJob> asked_;
  const ElasticOptions& options_;
  std::vector<Job> jobs_;         // in the order of asked_
  std::vector<size_t> arrivals_;  // positions of jobs
  size_t next_ = 0;
  std::vector<size_t> active_;  // by arrival
  size_t finished_ = 0;
  double held_ = 0;  // GPU-seconds
  ElasticRun run_;
};

}  // namespace

std::span<const ElasticPolicyName> ElasticPolicyNames() { return kNames; }

Result<ElasticPolicy> ParseElasticPolicy(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i].name == name) return static_cast<ElasticPolicy>(i);
  }
  std::vector<std::string_view> names;
  for (const ElasticPolicyName& known : kNames) names.push_back(known.name);
  return Fail(ErrorCode::kInvalid, fmt::format("unknown policy '{}' of elastic jobs: use one of {}",
                                               name, fmt::join(names, ", ")));
}

Result<ElasticRun> SimulateElastic(std::span<const GavelTraceJob> jobs,
                                   const GavelThroughputs& throughputs,
                                   const ElasticOptions& options) {
  return ElasticSimulation(jobs, options).Run(throughputs);
}

}  // namespace synergy
