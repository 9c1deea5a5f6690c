#pragma once

// Divides a queue's GPUs among its trainings by choosing their numbers of workers (Optimus,
// EuroSys'18, section 4; optimus/marginal_gain.h computes the gains). A change of the number of
// workers stops a running training and restarts it from its checkpoint. A training that is not
// elastic has one size.
//
//   * First every training gets its least number of workers. Trainings that cannot be suspended go
//     first; the others follow by class, then those that already have GPUs, then by arrival. A
//     training that does not fit is skipped, and waits.
//   * Then the gains decide. Two divisions are compared: one divides all GPUs from scratch, the
//     other adds the free GPUs to the running trainings. The first is used if it lets more
//     trainings run, or if it saves more time, net of restarts.
//   * No training grows if the growth saves it less time than a restart costs.
//
// A training whose speed or remaining work is unknown has no gain, and does not grow. If the gains
// leave enough GPUs, it keeps its workers, or starts with the number that it requests.
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
  std::string name;  // breaks ties
  int least = 1;     // workers
  int most = 1;
  int now = 0;  // 0: it waits
  // The number of workers that it has or requests; used if it waits and its speed is unknown.
  int asks = 0;
  Gpus worker{1};              // GPUs of each worker
  bool stays = false;          // runs, and must not be changed now
  bool to_its_end = false;     // runs, and cannot be suspended, so it goes before all others
  bool capped = false;         // `most` comes from the nodes' room, and may be below `now`
  std::optional<double> work;  // remaining work, in the unit of which `speed` is the rate
  std::optional<SpeedCurve> speed;
  int64_t priority = 0;  // the priority of its class
  WallTime created{};
};

// The workers of a task, and the reason, a text for users.
struct ElasticVerdict {
  int workers = 0;
  std::string_view why;
};

// Returns a verdict for each task. Together the workers need no more GPUs than `quota`, unless
// tasks that stay or run to their end already exceed it.
std::vector<ElasticVerdict> DivideWorkers(std::span<const ElasticTask> tasks, Gpus quota,
                                          Seconds restart_cost);

// Observations of a training, to which its curves are fitted. The memory use is bounded, because
// there is a record for every job.
class ElasticRecord {
 public:
  static constexpr size_t kMostLosses = 32;

  ElasticRecord() = default;
  ElasticRecord(std::vector<SpeedPoint> speeds, std::vector<LossPoint> losses);

  // Records the rate with this number of workers, and replaces an earlier one. `rate`: iterations
  // per second, above 0.
  void SeeSpeed(int workers, double rate);
  // Records a loss, unless its iteration is not above the last one's. When there are too many
  // losses, every second one is dropped, and later ones are recorded at twice the distance.
  void SeeLoss(double iteration, double loss);

  // Returns the curve of all-reduce (speed_curve.h); nullopt if no rate was recorded. With rates
  // for too few numbers of workers to fit all factors of the curve, fits only the batch's factor,
  // as if workers cost nothing; with rates for two numbers, also the constant factor. The curve
  // then overestimates the speed, so that the training gets more workers and is observed with them.
  std::optional<SpeedCurve> Speed() const;
  // Returns the iterations left after `done`, at least 1: until the loss is `wanted`, if that is
  // given and the curve reaches it, otherwise until `total`. Returns nullopt if neither is known.
  std::optional<double> WorkLeft(double done, std::optional<double> total,
                                 std::optional<double> wanted) const;

  const std::vector<SpeedPoint>& speeds() const { return speeds_; }
  const std::vector<LossPoint>& losses() const { return losses_; }

 private:
  std::vector<SpeedPoint> speeds_;  // by workers
  std::vector<LossPoint> losses_;
};

}  // namespace synergy
