#include "optimus/marginal_gain.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <queue>
#include <tuple>

namespace synergy {
namespace {

// One more task for a job.
struct Offer {
  double gain = 0;
  size_t job = 0;
  bool server = false;

  // Orders offers so that the better one is greater.
  bool operator<(const Offer& other) const {
    return std::tuple(gain, other.job) < std::tuple(other.gain, job);
  }
};

class Division {
 public:
  Division(std::span<const ElasticJob> jobs, std::span<const double> capacity)
      : jobs_(jobs), capacity_(capacity), free_(capacity.begin(), capacity.end()) {}

  std::vector<Tasks> Divide() && {
    for (size_t job = 0; job < jobs_.size(); ++job) GiveLeast(job);
    while (!offers_.empty()) {
      const Offer offer = offers_.top();
      offers_.pop();
      if (offer.gain < 0 || !Take(TaskOf(offer), 1)) break;
      ++(offer.server ? tasks_[offer.job].servers : tasks_[offer.job].workers);
      MakeOffer(offer.job);
    }
    return std::move(tasks_);
  }

 private:
  const std::vector<double>& TaskOf(const Offer& offer) const {
    return offer.server ? jobs_[offer.job].server : jobs_[offer.job].worker;
  }

  bool Take(std::span<const double> task, int count) {
    for (size_t i = 0; i < task.size(); ++i) {
      if (task[i] * count > free_[i]) return false;
    }
    for (size_t i = 0; i < task.size(); ++i) free_[i] -= task[i] * count;
    return true;
  }

  void GiveLeast(size_t job) {
    const ElasticJob& asks = jobs_[job];
    std::vector<double> pair = asks.worker;
    for (size_t i = 0; i < asks.server.size(); ++i) pair[i] += asks.server[i];
    tasks_.emplace_back();
    if (!Take(pair, asks.least_workers)) return;
    tasks_.back() = {.servers = asks.server.empty() ? 0 : asks.least_workers,
                     .workers = asks.least_workers};
    MakeOffer(job);
  }

  // Returns the task's amount of its dominant resource.
  double Dominant(std::span<const double> task) const {
    size_t dominant = 0;
    for (size_t i = 1; i < task.size(); ++i) {
      if (task[i] / capacity_[i] > task[dominant] / capacity_[dominant]) dominant = i;
    }
    return task[dominant];
  }

  void MakeOffer(size_t job) {
    const ElasticJob& asks = jobs_[job];
    if (!asks.speed) return;
    const Tasks& has = tasks_[job];
    const double now = asks.work_left / asks.speed->At(has);
    std::optional<Offer> best;
    if (!asks.server.empty()) {
      const double then = asks.work_left / asks.speed->At({has.servers + 1, has.workers});
      best = {.gain = (now - then) / Dominant(asks.server), .job = job, .server = true};
    }
    if (has.workers < asks.most_workers) {
      const double then = asks.work_left / asks.speed->At({has.servers, has.workers + 1});
      const Offer worker = {.gain = (now - then) / Dominant(asks.worker), .job = job};
      if (!best || worker.gain > best->gain) best = worker;
    }
    if (best) offers_.push(*best);
  }

  std::span<const ElasticJob> jobs_;
  std::span<const double> capacity_;
  std::vector<double> free_;
  std::vector<Tasks> tasks_;
  std::priority_queue<Offer> offers_;  // one per job that has its least tasks and can take more
};

}  // namespace

std::vector<Tasks> ServeGains(std::span<const ElasticJob> jobs, std::span<const double> capacity) {
  return Division(jobs, capacity).Divide();
}

}  // namespace synergy
