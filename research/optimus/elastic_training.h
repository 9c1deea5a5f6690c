#pragma once

// A training that can run with more or fewer workers, which have a GPU each: its true course, and
// what an observer measures.
//
// * Speed: as Gavel's authors measured it for the model with 1, 2, 4 and 8 GPUs (gavel_input.h), in
//   iterations of one GPU's batch, and linear in between. The training never has fewer workers than
//   the smallest measured number, or more than the largest. The true curve is not of Optimus' form.
// * Loss: 1 / (a k + b) + c, with a, b, c uniform in [0.08, 0.5], [0.3, 1.5], [0.03, 0.35]. The
//   training has 20 to 100 epochs, also uniform, and ends with the last. The target loss is the
//   curve's value there.
// * Measured: the loss at the end of each epoch with 1 % of noise, and the speed with 3 %, both
//   normal.
//
// Threading: one owner at a time.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/random.h"
#include "core/result.h"
#include "optimus/loss_curve.h"
#include "optimus/speed_curve.h"
#include "research/gavel/gavel_input.h"

namespace synergy {

class ElasticTraining {
 public:
  // Uses the speeds on `type`. Returns kInvalid if the model has no speed with the job's GPUs.
  static Result<ElasticTraining> Make(const GavelTraceJob& job, const GavelThroughputs& throughputs,
                                      const std::string& type, uint64_t seed);

  int least_workers() const { return speeds_.begin()->first; }
  int most_workers() const { return speeds_.rbegin()->first; }
  // Returns for how many numbers of workers the speed was measured.
  size_t sizes() const { return speeds_.size(); }

  // Return the true values: iterations per second, and iterations left.
  double Speed(int workers) const;
  double StepsLeft() const { return steps_ - done_; }

  // Measures the speed with every number of workers whose true speed is known.
  void Try();
  // Advances by this many seconds, but not beyond the end, and measures.
  void Run(int workers, double seconds);

  // Fits a curve to the measurements. Returns nullopt for fewer than three numbers of workers.
  std::optional<SpeedCurve> FittedSpeed() const;
  // Fits a curve to the true speeds.
  std::optional<SpeedCurve> TrueSpeedFitted() const;
  // Returns the steps to the target loss. While no curve can be fitted, it assumes 20 epochs, as
  // the program of Optimus' authors does.
  double FittedStepsLeft() const;

 private:
  ElasticTraining(std::map<int, double> speeds, double steps, uint64_t seed);

  struct Measured {
    double sum = 0;
    double count = 0;
  };

  double Noise(double deviation);
  void Measure(int workers);

  std::map<int, double> speeds_;  // number of workers -> speed; not empty
  double steps_ = 0;
  double done_ = 0;
  Random random_;
  double epochs_ = 0;
  LossCurve loss_;
  std::map<int, Measured> measured_;
  std::vector<LossPoint> losses_;
  std::optional<LossCurve> fitted_loss_;
};

}  // namespace synergy
