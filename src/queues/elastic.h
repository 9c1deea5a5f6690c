#pragma once

// How many workers each elastic training of a queue has (Optimus, EuroSys'18, section 4; the gains
// are optimus/marginal_gain.h), where every change of one that runs ends all of its workers and
// starts them again from their checkpoint. Who is not elastic is a training of one size.
//
//   * First everybody gets its least: those that cannot be suspended, then by class, then those
//     that have GPUs already, then by arrival. Who does not fit is passed over, and waits.
//   * Then the gains decide. Two divisions are compared: all GPUs divided anew, and what is free
//     added to what runs. The first one is taken where it lets more trainings run, or where it
//     saves more time, restarts counted.
//   * Nobody grows for less time than a restart costs it.
//
// Of a training whose speed or whose work is not known nothing can be gained: it keeps what it has,
// or starts with what it asks for, as long as nobody else has a use for that, and is not grown.
//
// Threading: pure.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "core/units.h"
#include "optimus/loss_curve.h"
#include "optimus/speed_curve.h"

namespace synergy {

struct ElasticTask {
  std::string name;  // orders those that are equal otherwise
  int least = 1;     // workers
  int most = 1;
  int now = 0;                 // 0: it waits
  int asks = 0;                // what its author wrote: of one that waits and is not known
  Gpus worker{1};              // GPUs of each
  bool stays = false;          // runs, and is not to be changed now
  bool to_its_end = false;     // runs, and cannot be suspended: it goes before all others
  std::optional<double> work;  // what is left, in the unit whose rate `speed` tells
  std::optional<SpeedCurve> speed;
  int64_t priority = 0;  // of its class
  WallTime created{};
};

// Texts are for people.
struct ElasticVerdict {
  int workers = 0;
  std::string_view why;
};

// Of each task. Never more GPUs together than `quota`, but for tasks that stay or run to their end.
std::vector<ElasticVerdict> DivideWorkers(std::span<const ElasticTask> tasks, Gpus quota,
                                          Seconds restart_cost);

// What was seen of a training: enough to fit its curves, and little enough to be kept with it.
class ElasticRecord {
 public:
  static constexpr size_t kMostLosses = 32;

  ElasticRecord() = default;
  ElasticRecord(std::vector<SpeedPoint> speeds, std::vector<LossPoint> losses);

  // The latest of a number of workers counts. `rate`: iterations per second, above 0.
  void SeeSpeed(int workers, double rate);
  // In ascending order of iterations; others are passed over. When there are too many, every
  // second one goes, and further ones count at twice the distance.
  void SeeLoss(double iteration, double loss);

  // All-reduce's curve (speed_curve.h). With fewer numbers of workers than it has factors: the
  // batch's factor alone, as if the workers cost nothing, and with two of them the constant part
  // too. So a training that was seen with few is taken for better than it is, is given more, and is
  // seen with those. None: it was never seen.
  std::optional<SpeedCurve> Speed() const;
  // Iterations that are left after `done`: until the loss is `wanted`, where that is said and the
  // curve comes down to it, else until `total`. At least one. None: nobody knows.
  std::optional<double> WorkLeft(double done, std::optional<double> total,
                                 std::optional<double> wanted) const;

  const std::vector<SpeedPoint>& speeds() const { return speeds_; }
  const std::vector<LossPoint>& losses() const { return losses_; }

 private:
  std::vector<SpeedPoint> speeds_;  // by workers
  std::vector<LossPoint> losses_;
};

}  // namespace synergy
