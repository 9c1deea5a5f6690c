#pragma once

// A Job (batch/v1) or a TrainJob (trainer.kubeflow.org/v1alpha1) in one of Kueue's queues: how many
// workers a Job has and may have (docs/optimus.md), and the progress in a TrainJob's status.
//
// Threading: values; pure.

#include <cstdint>
#include <optional>
#include <string>

#include "core/clock.h"
#include "core/units.h"

namespace synergy {

// The last report of a TrainJob's training about itself (status.trainerStatus, from Kubeflow
// Trainer 2.3 on). Not trusted: every user who may run pods in its namespace can send it.
struct TrainerStatus {
  std::optional<Seconds> remaining;
  std::optional<int64_t> percent;  // done, 0 to 100
  WallTime at{};                   // by the training's own clock

  bool operator==(const TrainerStatus&) const = default;
};

struct QueuedJob {
  std::string uid;
  std::string job_namespace;
  std::string name;
  std::string resource_version;
  int64_t workers = 1;                // of a Job: spec.parallelism
  int64_t succeeded = 0;              // its pods that are done
  std::optional<TrainerStatus> told;  // of a TrainJob; nullopt also if it is malformed
  // Both 0 if it does not ask to be elastic, or there is a problem.
  int64_t least = 0;
  int64_t most = 0;
  std::optional<double> target_loss;
  // Why it is not elastic though it asks to be: the field, and what to do. Empty: nothing is wrong.
  std::string problem;

  std::string Key() const { return job_namespace + "/" + name; }
  bool IsElastic() const { return least > 0; }
};

}  // namespace synergy
