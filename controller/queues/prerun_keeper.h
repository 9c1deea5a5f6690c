#pragma once

// Runs trials of Jobs that wait in Kueue's queues, and stops Jobs whose trial failed by their own
// fault (engine/retries/prerun.h), if the annotation synergy.io/prerun on the Job or its local
// queue requests this.
//
//   the Workload waits         -> reads the Job; if it opted in, creates the trial and records it
//                                 on the Workload
//   the records of failures
//   contain the trial          -> stops the Workload, and records an event
//   the Workload has its quota -> deletes the trial
//
// Completed actions are recorded in objects: the trial's name is derived from the Job's UID, and
// the Workload records its trial, and the trial whose failure stopped it. So a new leader continues
// where the previous one ended, and does not stop a Job again that its user has restarted. Only an
// event may then be missing or duplicated.
//
// Bounds: PrerunLimits; SuspensionLimit limits how many Jobs are stopped per hour. A step makes at
// most kMostCalls calls. A Job without a trial is read again after kAgain.
//
// Threading: the watches write the stores; one thread calls the rest. Failures: after a failed call
// the next step is kPause later. After a conflict, the keeper waits for the watch. Until the
// annotation of a Job could be read, nothing is done about the Job.

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>

#include "cluster/pod_failure.h"
#include "controller/cluster/keyed_store.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/result.h"
#include "engine/retries/prerun.h"
#include "engine/retries/retries.h"
#include "kube/apis/events.h"
#include "kube/apis/failures/prerun_api.h"
#include "metrics/controller_metrics.h"

namespace synergy::controller {

class PrerunKeeper {
 public:
  static constexpr Duration kPause = std::chrono::seconds(5);
  static constexpr Duration kAgain = std::chrono::minutes(10);
  static constexpr size_t kMostCalls = 20;

  struct Settings {
    std::string gpu_resource;
    std::string priority_class;  // of trials
  };

  // `may_act`: returns whether this process leads. All references must outlive this object.
  PrerunKeeper(kube::PrerunApi& api, Settings settings, kube::EventRecorder& events,
               std::function<bool()> may_act, const Clock& clock, Logger& log,
               metrics::ControllerMetrics& metrics);

  KeyedStore<PrerunWorkload>& workloads() { return workloads_; }
  KeyedStore<PrerunQueue>& queues() { return queues_; }
  KeyedStore<PrerunTrial>& trials() { return trials_; }

  // Call it when this process begins to lead.
  void StartOver();
  // `histories`: the records of failures, by namespace. Call it about every second while the
  // stores are current.
  void Step(const std::map<std::string, FailureHistory>& histories, const std::stop_token& stop);

 private:
  // The value of the annotation on the Job or, without one, on its local queue.
  struct Wish {
    std::string text;
    std::string where;  // "job bert"
  };

  struct TrialPlace {
    std::string queue;     // a local queue
    std::string resource;  // the resource that the trial requests in place of its GPU
  };

  PrerunState State(const std::map<std::string, FailureHistory>& histories) const;
  static std::optional<Wish> WishOf(const PrerunWorkload& workload,
                                    const std::optional<std::string>& of_job,
                                    const PrerunQueue* queue);
  // Returns the place where the workload's trial runs, or an error that names the annotation to set
  // on the local queue. `queue`: the workload's local queue; null if it is unknown.
  Result<TrialPlace> PlaceOf(const PrerunWorkload& workload, const PrerunQueue* queue) const;
  // Returns why no trial can run in the cluster; empty if trials can.
  Result<std::string> Obstacle(const std::stop_token& stop);
  // Each of the next functions returns an error only if the call may succeed later.
  Result<> Begin(const PrerunWorkload& workload, const std::stop_token& stop);
  Result<> End(const PrerunTrial& trial, const std::stop_token& stop);
  Result<> Note(const PrerunWorkload& workload, const PrerunTrial& trial,
                const std::stop_token& stop);
  Result<> Stop(const PrerunWorkload& workload, const PrerunTrial& trial,
                const PrerunFailure& failure, const std::stop_token& stop);
  // Reports a failed trial that does not stop its job.
  Result<> Report(const PrerunWorkload& workload, const PrerunTrial& trial,
                  const PrerunFailure& failure);
  void Leave(const PrerunWorkload& workload, const PrerunTrial& trial, const PrerunFailure& failure,
             std::string_view why);
  void Announce(const PrerunWorkload& workload, const PrerunFailure& failure);
  // Records an event with the reason why there is no trial.
  void Refuse(const PrerunWorkload& workload, std::string why);
  void RecordEvent(const PrerunWorkload& workload, const char* type, const char* reason,
                   std::string message);

  kube::PrerunApi& api_;
  const Settings settings_;
  kube::EventRecorder& events_;
  const std::function<bool()> may_act_;
  const Clock& clock_;
  Logger& log_;
  metrics::ControllerMetrics& metrics_;
  KeyedStore<PrerunWorkload> workloads_;
  KeyedStore<PrerunQueue> queues_;
  KeyedStore<PrerunTrial> trials_;
  SuspensionLimit limit_;
  // The earliest time to check again whether a job gets a trial, by the job's UID.
  std::map<std::string, Instant> looked_;
  std::set<std::string> judged_;  // UIDs of trials whose failure needs no more action
  // The failures for which a call to stop the job got no answer, by the trial's UID.
  std::map<std::string, PrerunFailure> unanswered_;
  size_t served_ = 0;  // the offset at which the next step begins if it cannot make all calls
  Instant due_ = Instant::min();
  std::optional<ErrorCode> error_;  // of the last call, if it failed
};

}  // namespace synergy::controller
