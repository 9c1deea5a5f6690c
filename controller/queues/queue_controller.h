#pragma once

// Carries out the plans of the queue planner (queues/planner/queue_planner.h): passes a snapshot of
// Kueue's objects to the planner, makes the planned writes, and reports the outcome of each write
// to the planner. Also writes the planned answers to the admission check of GPU types
// (queues/planner/gpu_type_answers.h).
//
// Threading: one owner; any thread may use the stores. Failures: a failed write is planned again in
// the next step. Writes carry the resource version, and fail if the Workload has changed since it
// was read. So no write is based on an old snapshot, and a Retry never coincides with an eviction
// by Kueue.

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

#include "controller/cluster/patch_rate.h"
#include "controller/queues/queue_stores.h"
#include "core/clock.h"
#include "core/log.h"
#include "kube/apis/events.h"
#include "kube/apis/round_api.h"
#include "metrics/round_metrics.h"
#include "queues/planner/gpu_type_answers.h"
#include "queues/planner/queue_planner.h"

namespace synergy::controller {

class QueueController {
 public:
  // The maximum number of writes of workloads and jobs per second, and also of answers per second.
  // Each write makes Kueue process the workload again.
  static constexpr int64_t kWritesPerSecond = 20;
  // The longest time for which a workload waits for its GPU type if no replica decides.
  static constexpr Duration kPatience = std::chrono::seconds(30);

  // All references must outlive this object. `may_act`: returns whether this process leads; checked
  // before each of the leader's writes.
  QueueController(const QueueStores& stores, QueuePlanner& planner, kube::RoundApi& api,
                  kube::EventRecorder& events, std::function<bool()> may_act, Duration patience,
                  const Clock& clock, Logger& log, metrics::RoundMetrics& metrics);

  // Forgets all state, so that the next plan starts from the notes. Call it on becoming the leader.
  void StartOver();
  // Makes a plan and writes it. Call it every second on the leader, while all objects are current.
  void Step(const std::stop_token& stop);
  // Answers admission checks. Call it every second on all replicas, while all objects are current.
  // `decided_here`: whether Step() has just decided. `decided`: when any replica last decided.
  void AnswerChecks(bool decided_here, Instant decided, const std::stop_token& stop);

 private:
  // The resource versions at which objects were last written, by UID. An object is not written at
  // the same version again until the watch has reported the write.
  using Written = std::unordered_map<std::string, std::string>;

  bool MayGoOn(const std::stop_token& stop) const { return !stop.stop_requested() && may_act_(); }
  // Makes the writes, except those of the queues in `pending`, and returns their outcomes.
  std::vector<WriteOutcome> WriteJobs(const std::vector<WorkersWrite>& writes,
                                      const std::set<std::string>& pending,
                                      const std::stop_token& stop);
  std::vector<WriteOutcome> WriteWorkloads(const QueuePlan& plan, const std::stop_token& stop);
  WriteOutcome WriteWorkload(const WorkloadWrite& write, const std::stop_token& stop);
  void WriteStatuses(const std::vector<PolicyStatusWrite>& writes, const std::stop_token& stop);
  void Activate(const QueueObjects& objects, const std::stop_token& stop);
  void Answer(const TypeAnswer& answer, const std::stop_token& stop);
  void Record(const JobNotice& notice);

  const QueueStores& stores_;
  QueuePlanner& planner_;
  kube::RoundApi& api_;
  kube::EventRecorder& events_;
  const std::function<bool()> may_act_;
  const Duration patience_;
  const Clock& clock_;
  Logger& log_;
  metrics::RoundMetrics& metrics_;
  PatchRate write_rate_{kWritesPerSecond, kWritesPerSecond};
  PatchRate answer_rate_{kWritesPerSecond, kWritesPerSecond};
  Written workloads_written_;
  Written answers_written_;
  std::map<std::string, Instant> status_written_;  // by the policy's UID
  std::optional<Instant> first_look_;              // the first call of AnswerChecks()
};

}  // namespace synergy::controller
