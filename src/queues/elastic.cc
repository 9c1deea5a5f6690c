#include "queues/elastic.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <tuple>
#include <utility>

#include "optimus/least_squares.h"
#include "optimus/marginal_gain.h"

namespace synergy {
namespace {

constexpr std::string_view kWhyStays = "its workers stay the same for now";
constexpr std::string_view kWhyKeeps =
    "no other number of workers would save the cost of a restart";
constexpr std::string_view kWhyUnknown = "its speed or remaining work is unknown";
constexpr std::string_view kWhyStarts = "it fits beside the other jobs";
constexpr std::string_view kWhyGrows = "more workers save more time here than in other jobs";
constexpr std::string_view kWhyShrinks = "its workers save more time in other jobs";
constexpr std::string_view kWhyOneSize = "it has a fixed number of workers";
constexpr std::string_view kWhyCapped = "the nodes have no room for more of its pods";
constexpr std::string_view kWhyNoRoom = "the least workers of earlier jobs leave no room";

// A division of the GPUs: the number of workers of each task.
using WorkerCounts = std::vector<int>;

bool IsKnownTask(const ElasticTask& task) { return task.speed && task.work; }

// Returns how many of its workers a running task may keep: all, unless the nodes lack room.
int KeepsAtMost(const ElasticTask& task) { return std::min(task.now, task.most); }

double TimeLeftWith(const ElasticTask& task, int workers) {
  return *task.work / task.speed->At({.servers = 0, .workers = workers});
}

// Returns how many seconds sooner the task ends with `workers`, not counting the restart; 0 if that
// is unknown.
double TimeSaved(const ElasticTask& task, int workers) {
  if (!IsKnownTask(task) || task.now == 0 || workers == 0) return 0;
  return TimeLeftWith(task, task.now) - TimeLeftWith(task, workers);
}

class WorkerDivider {
 public:
  WorkerDivider(std::span<const ElasticTask> tasks, Gpus quota, Seconds restart_cost)
      : tasks_(tasks), quota_(quota), cost_(restart_cost.count()), order_(tasks.size()) {
    std::iota(order_.begin(), order_.end(), size_t{0});
    const auto rank = [&](size_t index) {
      const ElasticTask& task = tasks_[index];
      return std::tuple(!IsFixed(task), -task.priority, task.now == 0, task.created,
                        std::string_view(task.name));
    };
    std::stable_sort(order_.begin(), order_.end(),
                     [&](size_t one, size_t other) { return rank(one) < rank(other); });
  }

  WorkerCounts Divide() const {
    WorkerCounts fresh = Paying(false);
    WorkerCounts grown = Paying(true);
    const auto running = [](const WorkerCounts& division) {
      return division.size() - static_cast<size_t>(std::count(division.begin(), division.end(), 0));
    };
    const bool more_run = running(fresh) > running(grown);
    return more_run || Worth(fresh) > Worth(grown) ? fresh : grown;
  }

 private:
  static bool IsFixed(const ElasticTask& task) {
    return task.now > 0 && (task.stays || task.to_its_end);
  }

  // Returns a division without unprofitable growth: if the growth of a task saves too little, the
  // task keeps its size, and the other GPUs are divided again.
  WorkerCounts Paying(bool keep) const {
    std::vector<bool> pinned(tasks_.size());
    for (size_t index = 0; index < tasks_.size(); ++index) pinned[index] = IsFixed(tasks_[index]);
    while (true) {
      WorkerCounts division = Serve(keep, pinned);
      bool again = false;
      for (size_t index = 0; index < tasks_.size(); ++index) {
        const ElasticTask& task = tasks_[index];
        const bool grows = task.now > 0 && division[index] > task.now;
        if (pinned[index] || !grows || TimeSaved(task, division[index]) > cost_) continue;
        pinned[index] = again = true;
      }
      if (!again) return division;
    }
  }

  // Returns the division that follows from the gains. `keep`: whether every running task keeps at
  // least its present workers. `pinned`: the tasks that keep exactly their present workers.
  WorkerCounts Serve(bool keep, const std::vector<bool>& pinned) const {
    WorkerCounts division(tasks_.size());
    Gpus left = quota_;
    std::vector<size_t> served;  // in order
    for (const size_t index : order_) {
      const ElasticTask& task = tasks_[index];
      if (IsFixed(task)) {
        // It keeps running, even if the quota has shrunk.
        division[index] = task.now;
        left -= task.worker * task.now;
      } else {
        served.push_back(index);
      }
    }
    if (left <= Gpus(0)) return division;
    std::vector<ElasticJob> jobs;
    for (const size_t index : served) {
      const ElasticTask& task = tasks_[index];
      const bool holds = task.now > 0 && (keep || pinned[index]);
      ElasticJob& job = jobs.emplace_back();
      job.work_left = task.work.value_or(0);
      if (IsKnownTask(task)) job.speed = task.speed;
      job.worker = {static_cast<double>(task.worker.count())};
      job.least_workers = holds ? KeepsAtMost(task) : task.least;
      job.most_workers = pinned[index] ? KeepsAtMost(task) : std::max(task.most, job.least_workers);
    }
    const std::array capacity = {static_cast<double>(left.count())};
    const std::vector<Tasks> given = ServeGains(jobs, capacity);
    for (size_t place = 0; place < served.size(); ++place) {
      division[served[place]] = given[place].workers;
      left -= tasks_[served[place]].worker * given[place].workers;
    }
    // Give GPUs that no gain has claimed to tasks whose speed is unknown.
    for (const size_t index : served) {
      const ElasticTask& task = tasks_[index];
      if (IsKnownTask(task) || division[index] == 0) continue;
      const int has = std::min(task.now > 0 ? task.now : task.asks, task.most);
      for (; division[index] < has && task.worker <= left; ++division[index]) left -= task.worker;
    }
    return division;
  }

  // Returns the seconds that the division saves, net of restarts.
  double Worth(const WorkerCounts& division) const {
    double worth = 0;
    for (size_t index = 0; index < tasks_.size(); ++index) {
      const ElasticTask& task = tasks_[index];
      worth += TimeSaved(task, division[index]);
      if (task.now > 0 && division[index] != task.now) worth -= cost_;
    }
    return worth;
  }

  std::span<const ElasticTask> tasks_;
  const Gpus quota_;
  const double cost_;
  std::vector<size_t> order_;
};

std::string_view WhyWorkers(const ElasticTask& task, int workers) {
  if (workers == 0) return kWhyNoRoom;
  if (task.now > 0 && (task.stays || task.to_its_end)) return kWhyStays;
  if (task.capped && workers == task.most && task.asks > workers) return kWhyCapped;
  if (task.least == task.most) return kWhyOneSize;
  if (task.now == 0) return kWhyStarts;
  if (workers > task.now) return kWhyGrows;
  if (workers < task.now) return kWhyShrinks;
  return IsKnownTask(task) ? kWhyKeeps : kWhyUnknown;
}

}  // namespace

std::vector<ElasticVerdict> DivideWorkers(std::span<const ElasticTask> tasks, Gpus quota,
                                          Seconds restart_cost) {
  const WorkerCounts division = WorkerDivider(tasks, quota, restart_cost).Divide();
  std::vector<ElasticVerdict> verdicts;
  verdicts.reserve(tasks.size());
  for (size_t index = 0; index < tasks.size(); ++index)
    verdicts.push_back({division[index], WhyWorkers(tasks[index], division[index])});
  return verdicts;
}

ElasticRecord::ElasticRecord(std::vector<SpeedPoint> speeds, std::vector<LossPoint> losses) {
  for (const SpeedPoint& point : speeds) SeeSpeed(point.tasks.workers, point.speed);
  for (const LossPoint& point : losses) SeeLoss(point.epoch, point.loss);
}

void ElasticRecord::SeeSpeed(int workers, double rate) {
  if (workers < 1 || !std::isfinite(rate) || rate <= 0) return;
  const auto place = std::lower_bound(
      speeds_.begin(), speeds_.end(), workers,
      [](const SpeedPoint& point, int count) { return point.tasks.workers < count; });
  if (place != speeds_.end() && place->tasks.workers == workers) {
    place->speed = rate;
  } else {
    speeds_.insert(place, {.tasks = {.servers = 0, .workers = workers}, .speed = rate});
  }
}

void ElasticRecord::SeeLoss(double iteration, double loss) {
  if (!std::isfinite(iteration) || !std::isfinite(loss) || iteration < 0 || loss <= 0) return;
  const size_t count = losses_.size();
  // Once half of the places are used, the next loss must be at least as far from the last one as
  // the last two are from each other.
  const double distance = count < 2 ? 0 : losses_[count - 1].epoch - losses_[count - 2].epoch;
  if (count > 0 && iteration <= losses_.back().epoch) return;
  if (count > kMostLosses / 2 && iteration < losses_.back().epoch + distance) return;
  if (count == kMostLosses) {
    for (size_t index = 0; 2 * index < count; ++index) losses_[index] = losses_[2 * index];
    losses_.resize((count + 1) / 2);
    if (iteration < losses_.back().epoch + 2 * distance) return;
  }
  losses_.push_back({iteration, loss});
}

std::optional<SpeedCurve> ElasticRecord::Speed() const {
  const SpeedForm form = SpeedForm::kAllReduce;
  if (speeds_.empty()) return std::nullopt;
  if (speeds_.size() >= FactorsOf(form)) return FitSpeed(form, 1, speeds_);
  std::vector<std::vector<double>> columns(speeds_.size());
  std::vector<double> target;
  for (const SpeedPoint& point : speeds_) {
    // Fit by least squares of the relative errors of 1 / f, as in FitSpeed().
    columns.front().push_back(point.speed / point.tasks.workers);
    if (columns.size() > 1) columns[1].push_back(point.speed);
    target.push_back(1);
  }
  SpeedCurve curve{.form = form, .batch = 1, .factors = NonNegativeLeastSquares(columns, target).x};
  curve.factors.resize(FactorsOf(form));
  return curve;
}

std::optional<double> ElasticRecord::WorkLeft(double done, std::optional<double> total,
                                              std::optional<double> wanted) const {
  if (wanted) {
    const std::optional<LossCurve> curve = FitLoss(losses_);
    const auto end = curve ? EpochOfLoss(*curve, *wanted) : std::nullopt;
    if (end) return std::max(*end - done, 1.0);
  }
  if (total) return std::max(*total - done, 1.0);
  return std::nullopt;
}

}  // namespace synergy
