#pragma once

// A training that can run with more or fewer workers, a GPU each: how it truly goes, and what is
// seen of it from outside.
//
// * Speed: what Gavel's authors measured of its model with 1, 2, 4 and 8 GPUs (gavel_input.h), in
//   iterations of one GPU's batch; straight lines between these. It runs with no fewer workers than
//   the least measured and no more than the most. So the true curve is not of Optimus' form.
// * Loss: 1 / (a k + b) + c, with a, b, c drawn evenly from [0.08, 0.5], [0.3, 1.5], [0.03, 0.35];
//   a training of 20 to 100 epochs, drawn evenly too, which ends where its last epoch does. The
//   loss that it wants is the curve's there.
// * Seen: the loss at the end of each epoch with 1 % of noise, the speed with 3 %, both normal.
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
  // With the speeds on `type`. kInvalid where the model is not known with the job's GPUs.
  static Result<ElasticTraining> Make(const GavelTraceJob& job, const GavelThroughputs& throughputs,
                                      const std::string& type, uint64_t seed);

  int least_workers() const { return speeds_.begin()->first; }
  int most_workers() const { return speeds_.rbegin()->first; }
  // How many numbers of workers were measured.
  size_t sizes() const { return speeds_.size(); }

  // The truth: iterations per second, iterations left.
  double Speed(int workers) const;
  double StepsLeft() const { return steps_ - done_; }

  // Measures the speed with every number of workers that the truth was measured with.
  void Try();
  // Goes on for so many seconds, at most to its end, and is watched.
  void Run(int workers, double seconds);

  // What follows from what was seen. None for fewer than three numbers of workers.
  std::optional<SpeedCurve> FittedSpeed() const;
  // The same without noise.
  std::optional<SpeedCurve> TrueSpeedFitted() const;
  // To the loss that is wanted; as long as no curve can be fitted, 20 epochs, as in the program of
  // Optimus' authors.
  double FittedStepsLeft() const;

 private:
  ElasticTraining(std::map<int, double> speeds, double steps, uint64_t seed);

  struct Measured {
    double sum = 0;
    double count = 0;
  };

  double Noise(double deviation);
  void Measure(int workers);

  std::map<int, double> speeds_;  // by workers; not empty
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
