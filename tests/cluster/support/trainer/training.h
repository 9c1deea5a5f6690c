#pragma once

// The training loop has three stages: a reader, workers that prepare samples, and a GPU. A few
// iterations wait between two stages, so the loop is as fast as its slowest stage.
//
//   reader (data set) -> workers (burn CPU time) -> GPU (waits) -> one iteration more
//
// With several ranks, each waits for the others before each iteration.
//
// Threading: starts threads of its own; the destructor ends them. Counters from any thread.

#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "cluster/support/trainer/buffer.h"
#include "cluster/support/trainer/checkpoint.h"
#include "cluster/support/trainer/data_set.h"
#include "cluster/support/trainer/device.h"
#include "cluster/support/trainer/meeting.h"
#include "cluster/support/trainer/options.h"
#include "cluster/support/trainer/team.h"

namespace synergy::trainer {

class Training {
 public:
  // REQUIRES: `data`, `team` and `checkpoint` outlive the training.
  Training(const Options& options, DataSet& data, const Team& team, Checkpoint& checkpoint);

  // Returns the iterations of this run and of earlier ones, at most the number of iterations to do.
  uint64_t iterations() const;

 private:
  using Clock = std::chrono::steady_clock;

  void Read(const std::stop_token& stop);
  void Prepare(const std::stop_token& stop);
  void Train(const std::stop_token& stop);

  Duration PrepareTime() const;

  const Options options_;
  const Clock::time_point began_ = Clock::now();
  DataSet& data_;
  const Team& team_;
  Checkpoint& checkpoint_;
  Buffer read_;
  Buffer prepared_;
  Meeting meeting_;
  Device gpu_;
  std::vector<std::jthread> threads_;
};

}  // namespace synergy::trainer
