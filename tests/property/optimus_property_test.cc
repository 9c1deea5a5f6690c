// Tests Optimus' fits with generated curves and noise, and its numbers of workers against
// exhaustive search.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "core/random.h"
#include "optimus/least_squares.h"
#include "optimus/loss_curve.h"
#include "optimus/marginal_gain.h"
#include "optimus/speed_curve.h"

namespace synergy::testing {
namespace {

double Between(double low, double high) {
  return low + (high - low) * *rc::gen::inRange(0, 10001) / 10000.0;
}

// Returns a normally distributed factor around 1.
double Noise(Random& random, double deviation) {
  const double radius = std::sqrt(-2 * std::log(1 - random.Uniform()));
  return 1 + deviation * radius * std::cos(2 * std::numbers::pi * random.Uniform());
}

// No x >= 0 is better: the gradient of the squares is 0 where x is above 0, and not below 0
// elsewhere (Karush, Kuhn and Tucker).
RC_GTEST_PROP(LeastSquaresProperty, NothingIsNearer, ()) {
  const auto rows = static_cast<size_t>(*rc::gen::inRange(1, 9));
  std::vector<std::vector<double>> columns(static_cast<size_t>(*rc::gen::inRange(1, 6)));
  std::vector<double> target(rows);
  for (auto& column : columns) {
    column.resize(rows);
    for (double& value : column) value = Between(-2, 5);
  }
  for (double& value : target) value = Between(-2, 5);
  const LeastSquares found = NonNegativeLeastSquares(columns, target);
  std::vector<double> rest = target;
  for (size_t j = 0; j < columns.size(); ++j) {
    RC_ASSERT(found.x[j] >= 0);
    for (size_t row = 0; row < rows; ++row) rest[row] -= columns[j][row] * found.x[j];
  }
  double sum = 0;
  for (const double value : rest) sum += value * value;
  RC_ASSERT(std::abs(sum - found.sum_of_squares) < 1e-6);
  for (size_t j = 0; j < columns.size(); ++j) {
    double gain = 0;
    for (size_t row = 0; row < rows; ++row) gain += columns[j][row] * rest[row];
    RC_ASSERT(gain < 1e-5);
    if (found.x[j] > 0) RC_ASSERT(gain > -1e-5);
  }
}

// With 1 % of noise and the first third of the curve, this checks the mean error of the loss
// predicted for three times as many iterations. docs/internals/optimus.md states these figures.
TEST(LossCurveProperty, NoiseIsSurvived) {
  Random random(20261123);
  double sum = 0;
  double worst = 0;
  constexpr int kCurves = 500;
  for (int i = 0; i < kCurves; ++i) {
    const LossCurve curve{.a = 0.08 + 0.42 * random.Uniform(),
                          .b = 0.3 + 1.2 * random.Uniform(),
                          .c = 0.03 + 0.32 * random.Uniform()};
    std::vector<LossPoint> points;
    for (int epoch = 1; epoch <= 20; ++epoch) {
      points.push_back({static_cast<double>(epoch), curve.At(epoch) * Noise(random, 0.01)});
    }
    points[1 + random.Below(19)].loss = 5;  // this point is not on the curve
    const auto found = FitLoss(points);
    ASSERT_TRUE(found);
    const double error = std::abs(found->At(60) / curve.At(60) - 1);
    sum += error;
    worst = std::max(worst, error);
  }
  RecordProperty("mean_error_percent", std::to_string(100 * sum / kCurves));
  RecordProperty("worst_error_percent", std::to_string(100 * worst));
  EXPECT_LT(sum / kCurves, 0.06);
}

// With 3 % of noise and measurements with 1, 2, 4 and 8 workers, this checks the mean error over 1
// to 8.
TEST(SpeedCurveProperty, NoiseIsSurvived) {
  Random random(20261123);
  double sum = 0;
  double worst = 0;
  constexpr int kCurves = 500;
  for (int i = 0; i < kCurves; ++i) {
    const SpeedCurve curve{
        SpeedForm::kAllReduce,
        64,
        {0.01 + 0.04 * random.Uniform(), 0.3 * random.Uniform(), 0.02 * random.Uniform()}};
    std::vector<SpeedPoint> points;
    for (const int workers : {1, 2, 4, 8}) {
      points.push_back({{0, workers}, curve.At({0, workers}) * Noise(random, 0.03)});
    }
    const auto found = FitSpeed(curve.form, curve.batch, points);
    ASSERT_TRUE(found);
    for (int workers = 1; workers <= 8; ++workers) {
      const double error = std::abs(found->At({0, workers}) / curve.At({0, workers}) - 1);
      sum += error / 8;
      worst = std::max(worst, error);
    }
  }
  RecordProperty("mean_error_percent", std::to_string(100 * sum / kCurves));
  RecordProperty("worst_error_percent", std::to_string(100 * worst));
  EXPECT_LT(sum / kCurves, 0.03);
}

double RemainingTimes(const std::vector<ElasticJob>& jobs, const std::vector<int>& workers) {
  double sum = 0;
  for (size_t i = 0; i < jobs.size(); ++i) {
    sum += jobs[i].work_left / jobs[i].speed->At({0, workers[i]});
  }
  return sum;
}

// Returns the least sum of remaining times over all ways to divide `free` workers.
double LeastOfAll(const std::vector<ElasticJob>& jobs, int free, std::vector<int>& workers) {
  const size_t job = workers.size();
  if (job == jobs.size()) return RemainingTimes(jobs, workers);
  double least = std::numeric_limits<double>::infinity();
  for (int w = jobs[job].least_workers; w <= std::min(jobs[job].most_workers, free); ++w) {
    workers.push_back(w);
    least = std::min(least, LeastOfAll(jobs, free - w, workers));
    workers.pop_back();
  }
  return least;
}

RC_GTEST_PROP(MarginalGainProperty, ConvexTimesAreTheLeastThereAre, ()) {
  std::vector<ElasticJob> jobs;
  int capacity = *rc::gen::inRange(0, 8);
  const int count = *rc::gen::inRange(1, 5);
  for (int i = 0; i < count; ++i) {
    ElasticJob job{.work_left = Between(1, 100),
                   .speed = SpeedCurve{SpeedForm::kAllReduce,
                                       64,
                                       {Between(0.01, 0.05), Between(0, 0.3), Between(0, 0.2)}},
                   .worker = {1},
                   .server = {}};
    job.least_workers = *rc::gen::inRange(1, 3);
    job.most_workers = job.least_workers + *rc::gen::inRange(0, 5);
    capacity += job.least_workers;
    jobs.push_back(std::move(job));
  }
  std::vector<int> workers;
  for (const Tasks& tasks : ServeGains(jobs, std::vector<double>{static_cast<double>(capacity)})) {
    workers.push_back(tasks.workers);
  }
  std::vector<int> tried;
  const double least = LeastOfAll(jobs, capacity, tried);
  RC_ASSERT(RemainingTimes(jobs, workers) <= least * (1 + 1e-9));
}

// For any requests, the cluster is never exceeded, and each job has no workers or a number within
// its limits.
RC_GTEST_PROP(MarginalGainProperty, BoundsAreKept, ()) {
  const std::vector<double> capacity = {Between(1, 64), Between(1, 16)};
  std::vector<ElasticJob> jobs(static_cast<size_t>(*rc::gen::inRange(1, 8)));
  for (ElasticJob& job : jobs) {
    job.work_left = Between(0, 100);
    const bool servers = *rc::gen::inRange(0, 2) == 0;
    job.worker = {Between(0, 4), 1};
    if (servers) job.server = {Between(0.1, 4), 0};
    job.speed = SpeedCurve{servers ? SpeedForm::kAsynchronous : SpeedForm::kAllReduce,
                           1,
                           {Between(0.1, 1), Between(0, 1), Between(0, 1), Between(0.01, 1)}};
    job.speed->factors.resize(FactorsOf(job.speed->form));
    job.least_workers = *rc::gen::inRange(1, 4);
    job.most_workers = job.least_workers + *rc::gen::inRange(0, 5);
  }
  std::vector<double> used(2);
  const std::vector<Tasks> given = ServeGains(jobs, capacity);
  RC_ASSERT(given.size() == jobs.size());
  for (size_t i = 0; i < jobs.size(); ++i) {
    const ElasticJob& job = jobs[i];
    const Tasks& tasks = given[i];
    RC_ASSERT(tasks == Tasks{} ||
              (tasks.workers >= job.least_workers && tasks.workers <= job.most_workers &&
               tasks.servers >= (job.server.empty() ? 0 : job.least_workers)));
    for (size_t r = 0; r < used.size(); ++r) {
      used[r] += tasks.workers * job.worker[r];
      if (!job.server.empty()) used[r] += tasks.servers * job.server[r];
    }
  }
  for (size_t r = 0; r < used.size(); ++r) RC_ASSERT(used[r] <= capacity[r] + 1e-9);
}

}  // namespace
}  // namespace synergy::testing
