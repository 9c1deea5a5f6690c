#pragma once

// `synergy explain job`: whether a job in a queue of Kueue's runs or waits and why, its place in
// the order, what it has had and what it has waited for.
//
// Threading: pure.

#include <optional>
#include <string>
#include <vector>

#include "cli/cluster/queue_facts.h"
#include "cli/text/tree.h"
#include "cli/views/queue_view.h"
#include "core/clock.h"
#include "core/result.h"
#include "queues/queued_job.h"
#include "wire/objects/event_about_pod.h"

namespace synergy::cli {

struct JobExplanation {
  QueuedView job;
  std::string local_queue;
  QueueView queue;                          // without a name: not known
  std::optional<TrainerStatus> told;        // a TrainJob's own word, as it told it
  std::vector<wire::EventAboutPod> events;  // Synergy's and Kueue's, the oldest first
  std::vector<std::string> remarks;         // what a reader should know or do
};

// The Workload of the job of that name, of whatever kind, or the Workload of that name; one that
// has ended only where there is no other. kNotFound: there is none; kInvalid: there are several.
Result<const Workload*> FindJob(const QueueFacts& facts, const std::string& job_namespace,
                                const std::string& name);

// `workload` is one of the facts'; `events` are about it and its job.
JobExplanation ExplainJob(const QueueFacts& facts, const Workload& workload,
                          std::vector<wire::EventAboutPod> events, WallTime now);

Tree ToTree(const JobExplanation& explanation);
std::string ToText(const JobExplanation& explanation, WallTime now);

}  // namespace synergy::cli
