#pragma once

// `synergy explain job`: whether a job in one of Kueue's queues runs or waits, and why. Also shows
// its place in the order, its service, and its waiting times.
//
// Threading: pure.

#include <optional>
#include <string>
#include <vector>

#include "cli/cluster/queue_facts.h"
#include "cli/text/tree.h"
#include "cli/views/failure_view.h"
#include "cli/views/queue_view.h"
#include "core/clock.h"
#include "core/result.h"
#include "queues/kueue.h"
#include "wire/objects/event_about_pod.h"

namespace synergy::cli {

struct JobExplanation {
  QueuedView job;
  std::string local_queue;
  QueueView queue;                              // its name is empty if unknown
  std::optional<TrainerStatus> trainer_status;  // unchecked report of a TrainJob
  std::vector<wire::EventAboutPod> events;      // Synergy's and Kueue's, oldest first
  std::vector<std::string> remarks;             // advice for the user
  std::vector<FailedAttempt> attempts;          // by time
};

// Finds the Workload of the job with that name, of any kind, or the Workload with that name; an
// ended one only if there is no other. Returns kNotFound if there is none, and kInvalid if there
// are several.
Result<const Workload*> FindJob(const QueueFacts& facts, const std::string& job_namespace,
                                const std::string& name);

// REQUIRES: `workload` is in `facts`. `events`: the events about the workload and its job.
JobExplanation ExplainJob(const QueueFacts& facts, const Workload& workload,
                          std::vector<wire::EventAboutPod> events, WallTime now);

Tree ToTree(const JobExplanation& explanation);
std::string ToText(const JobExplanation& explanation, WallTime now);

}  // namespace synergy::cli
