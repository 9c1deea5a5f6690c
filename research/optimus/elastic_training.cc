#include "research/optimus/elastic_training.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>
#include <utility>

namespace synergy {
namespace {

constexpr int kSizes[] = {1, 2, 4, 8};  // numbers of workers that were measured
constexpr double kLossNoise = 0.01;
constexpr double kSpeedNoise = 0.03;
constexpr double kEpochsUnlessKnown = 20;

double Between(Random& random, double low, double high) {
  return low + (high - low) * random.Uniform();
}

// The model is all-reduce with batches that grow with the workers, so M only scales a factor.
std::optional<SpeedCurve> Fit(const std::vector<SpeedPoint>& points) {
  return FitSpeed(SpeedForm::kAllReduce, 1, points);
}

}  // namespace

Result<ElasticTraining> ElasticTraining::Make(const GavelTraceJob& job,
                                              const GavelThroughputs& throughputs,
                                              const std::string& type, uint64_t seed) {
  const auto own = throughputs.Of(job.model, job.gpus, {type});
  if (!own) return Fail(own.error());
  std::map<int, double> speeds;
  if (own->front() > 0) speeds[static_cast<int>(job.gpus)] = own->front();
  for (const int size : kSizes) {
    const auto speed = throughputs.Of(job.model, size, {type});
    if (speed && speed->front() > 0) speeds[size] = speed->front();
  }
  if (!speeds.contains(static_cast<int>(job.gpus))) {
    return Fail(ErrorCode::kInvalid, job.model + " does not run on " + type);
  }
  return ElasticTraining(std::move(speeds), static_cast<double>(job.steps), seed);
}

ElasticTraining::ElasticTraining(std::map<int, double> speeds, double steps, uint64_t seed)
    : speeds_(std::move(speeds)), steps_(steps), random_(seed) {
  epochs_ = 20 + static_cast<double>(random_.Below(81));
  loss_.a = Between(random_, 0.08, 0.5);
  loss_.b = Between(random_, 0.3, 1.5);
  loss_.c = Between(random_, 0.03, 0.35);
}

double ElasticTraining::Speed(int workers) const {
  const auto above = speeds_.lower_bound(workers);
  if (above->first == workers) return above->second;
  const auto below = std::prev(above);
  const double part = static_cast<double>(workers - below->first) /
                      static_cast<double>(above->first - below->first);
  return below->second + part * (above->second - below->second);
}

void ElasticTraining::Try() {
  for (const auto& [workers, speed] : speeds_) Measure(workers);
}

void ElasticTraining::Run(int workers, double seconds) {
  if (seconds <= 0) return;
  done_ = std::min(done_ + seconds * Speed(workers), steps_);
  Measure(workers);
  const double epochs = std::floor(done_ / steps_ * epochs_);
  const size_t before = losses_.size();
  for (auto epoch = static_cast<double>(before + 1); epoch <= epochs; ++epoch) {
    losses_.push_back({epoch, loss_.At(epoch) * Noise(kLossNoise)});
  }
  if (losses_.size() > before) fitted_loss_ = FitLoss(losses_);
}

std::optional<SpeedCurve> ElasticTraining::FittedSpeed() const {
  std::vector<SpeedPoint> points;
  for (const auto& [workers, measured] : measured_) {
    points.push_back({{.servers = 0, .workers = workers}, measured.sum / measured.count});
  }
  return Fit(points);
}

std::optional<SpeedCurve> ElasticTraining::TrueSpeedFitted() const {
  std::vector<SpeedPoint> points;
  for (const auto& [workers, speed] : speeds_) {
    points.push_back({{.servers = 0, .workers = workers}, speed});
  }
  return Fit(points);
}

double ElasticTraining::FittedStepsLeft() const {
  const double done = done_ / steps_ * epochs_;
  const double left =
      fitted_loss_ ? EpochsLeft(*fitted_loss_, done, loss_.At(epochs_)) : kEpochsUnlessKnown;
  return left * steps_ / epochs_;
}

// Returns a factor around 1, by Box and Muller's method.
double ElasticTraining::Noise(double deviation) {
  const double radius = std::sqrt(-2 * std::log(1 - random_.Uniform()));
  return 1 + deviation * radius * std::cos(2 * std::numbers::pi * random_.Uniform());
}

void ElasticTraining::Measure(int workers) {
  Measured& measured = measured_[workers];
  measured.sum += Speed(workers) * std::max(Noise(kSpeedNoise), 0.1);
  ++measured.count;
}

}  // namespace synergy
