#include "controller/queues/queue_controller.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <utility>

#include "core/wall_time.h"
#include "wire/kueue/kueue.h"

namespace synergy::controller {

namespace {

constexpr Duration kStatusInterval = std::chrono::seconds(5);
constexpr Duration kSoonestStatus = std::chrono::seconds(1);

// Returns an event about a workload. The event is on the job that owns the workload, where users
// look for it; without an owner, it is on the workload.
kube::EventRecord AboutJob(const Workload& workload, std::string reason, std::string message) {
  const WorkloadOwner itself{.api_version = std::string(wire::kWorkloadVersion),
                             .kind = "Workload",
                             .name = workload.name,
                             .uid = workload.uid};
  return kube::AboutOwner(workload.workload_namespace,
                          workload.owner.uid.empty() ? itself : workload.owner, "Normal",
                          std::move(reason), std::move(message));
}

// Returns whether the object has changed since it was read, or is gone. The watch will report the
// change.
bool IsOutdated(const Result<>& written) {
  return !written && (written.error().code == ErrorCode::kNotFound ||
                      written.error().code == ErrorCode::kConflict);
}

WriteOutcome OutcomeOf(const Result<>& written) {
  if (written) return WriteOutcome::kWritten;
  if (IsOutdated(written)) return WriteOutcome::kOutdated;
  const ErrorCode code = written.error().code;
  const bool refused = code == ErrorCode::kDenied || code == ErrorCode::kInvalid;
  return refused ? WriteOutcome::kRefused : WriteOutcome::kFailed;
}

std::string OutcomeName(WriteOutcome outcome) {
  return outcome == WriteOutcome::kOutdated  ? "outdated"
         : outcome == WriteOutcome::kRefused ? "refused"
                                             : "failed";
}

}  // namespace

QueueController::QueueController(const QueueStores& stores, QueuePlanner& planner,
                                 kube::RoundApi& api, kube::EventRecorder& events,
                                 std::function<bool()> may_act, Duration patience,
                                 const Clock& clock, Logger& log, metrics::RoundMetrics& metrics)
    : stores_(stores),
      planner_(planner),
      api_(api),
      events_(events),
      may_act_(std::move(may_act)),
      patience_(patience),
      clock_(clock),
      log_(log),
      metrics_(metrics) {}

void QueueController::StartOver() {
  planner_.StartOver();
  workloads_written_.clear();
  status_written_.clear();
}

void QueueController::Record(const JobNotice& notice) {
  events_.Record(AboutJob(*notice.workload, notice.reason, notice.message));
}

void QueueController::Step(const std::stop_token& stop) {
  const QueuePlan plan = planner_.Plan(stores_.Snapshot(), clock_.Present());
  for (const JobNotice& notice : plan.notices) Record(notice);
  std::map<std::string, metrics::RoundCounts> counts;
  for (const PolicyStatusWrite& write : plan.statuses) {
    for (const auto& queue : write.status.queues) {
      if (queue.ready) counts[queue.name] = {queue.runs, queue.next, queue.waits};
    }
  }
  metrics_.SetWorkloads(counts);
  for (const auto& [queue, charged] : plan.delays) {
    metrics_.CountDelay(queue, "fair_share", charged.fair_share.count());
    metrics_.CountDelay(queue, "fragmentation", charged.fragmentation.count());
  }
  QueueOutcome outcome;
  outcome.waiting_jobs = WriteJobs(plan.waiting_jobs, {}, stop);
  outcome.writes = WriteWorkloads(plan, stop);
  outcome.running_jobs = WriteJobs(plan.running_jobs, PendingQueues(plan, outcome.writes), stop);
  planner_.OnResult(plan, outcome);
  WriteStatuses(plan.statuses, stop);
}

std::vector<WriteOutcome> QueueController::WriteJobs(const std::vector<WorkersWrite>& writes,
                                                     const std::set<std::string>& pending,
                                                     const std::stop_token& stop) {
  std::vector<WriteOutcome> outcomes(writes.size(), WriteOutcome::kNotTried);
  std::set<std::string_view> left_out(pending.begin(), pending.end());
  for (size_t index = 0; index < writes.size(); ++index) {
    const WorkersWrite& write = writes[index];
    const Instant now = clock_.Now();
    if (write_rate_.Next() > now || !MayGoOn(stop)) break;
    if (left_out.contains(write.queue)) continue;
    write_rate_.Spend(1, now);
    const Result<> written = api_.WriteWorkers(*write.job, write.change.to, stop);
    const WriteOutcome outcome = outcomes[index] = OutcomeOf(written);
    metrics_.CountWrite("workers", written ? "written" : OutcomeName(outcome));
    if (written) {
      log_.Info("workers", {{"job", write.job->Key()},
                            {"queue", write.queue},
                            {"from", write.change.from},
                            {"to", write.change.to},
                            {"because", write.change.why}});
      if (write.notice) Record(*write.notice);
    } else if (outcome != WriteOutcome::kOutdated) {
      log_.Warn("cannot change a job's workers",
                {{"job", write.job->Key()}, {"error", written.error().message}});
    }
    if (outcome == WriteOutcome::kFailed) left_out.insert(write.queue);
  }
  return outcomes;
}

WriteOutcome QueueController::WriteWorkload(const WorkloadWrite& write,
                                            const std::stop_token& stop) {
  const Workload& workload = *write.workload;
  const bool is_note = write.kind == WorkloadWrite::Kind::kNote;
  const Result<> written = is_note ? api_.WriteNote(workload, *write.note, stop)
                                   : api_.WritePriority(workload, write.priority, write.note, stop);
  const WriteOutcome outcome = OutcomeOf(written);
  metrics_.CountWrite(is_note      ? "note"
                      : write.note ? "band"
                                   : "restored",
                      written ? "written" : OutcomeName(outcome));
  if (written && write.lost_turn) {
    metrics_.CountLostTurn(write.queue);
    Record(*write.lost_turn);
  }
  if (written && !is_note) {
    log_.Info("priority", {{"workload", workload.Key()},
                           {"from", workload.priority},
                           {"to", write.priority},
                           {"because", write.why}});
  } else if (!written && outcome != WriteOutcome::kOutdated) {
    log_.Warn("cannot write a workload's priority",
              {{"workload", workload.Key()}, {"error", written.error().message}});
  }
  if (outcome == WriteOutcome::kRefused) {
    Record({write.workload, "SynergyNotOrdered",
            "its priority is not changed for now, because the API server refuses that: " +
                written.error().message});
  }
  return outcome;
}

std::vector<WriteOutcome> QueueController::WriteWorkloads(const QueuePlan& plan,
                                                          const std::stop_token& stop) {
  class Writer final : public WorkloadWriter {
   public:
    Writer(QueueController& controller, const std::stop_token& stop)
        : controller_(controller), stop_(stop) {}

    bool IsUnseen(const WorkloadWrite& write) override {
      const auto last = controller_.workloads_written_.find(write.workload->uid);
      const bool unseen = last != controller_.workloads_written_.end() &&
                          last->second == write.workload->resource_version;
      if (unseen) written.insert(*last);
      return unseen;
    }
    bool MayWrite() override {
      return controller_.write_rate_.Next() <= controller_.clock_.Now() &&
             controller_.MayGoOn(stop_);
    }
    WriteOutcome Write(const WorkloadWrite& write) override {
      controller_.write_rate_.Spend(1, controller_.clock_.Now());
      const WriteOutcome outcome = controller_.WriteWorkload(write, stop_);
      if (outcome == WriteOutcome::kWritten)
        written.emplace(write.workload->uid, write.workload->resource_version);
      return outcome;
    }

    Written written;

   private:
    QueueController& controller_;
    const std::stop_token& stop_;
  };
  Writer writer(*this, stop);
  std::vector<WriteOutcome> outcomes = WriteInOrder(plan, writer);
  workloads_written_ = std::move(writer.written);
  return outcomes;
}

void QueueController::WriteStatuses(const std::vector<PolicyStatusWrite>& writes,
                                    const std::stop_token& stop) {
  for (const PolicyStatusWrite& write : writes) {
    const RoundPolicy& policy = *write.policy;
    RoundPolicyStatus status = write.status;
    status.since = policy.status.since;
    if (status == policy.status) continue;
    const Instant now = clock_.Now();
    const auto [last, is_first] = status_written_.try_emplace(policy.uid, now);
    const bool soon = status.ready != policy.status.ready ||
                      status.observed_generation != policy.status.observed_generation;
    const Duration interval = soon ? kSoonestStatus : kStatusInterval;
    if (!is_first && now - last->second < interval) continue;
    if (!MayGoOn(stop)) return;
    last->second = now;
    if (status.ready != policy.status.ready || status.since.empty())
      status.since = ToTimeText(clock_.WallNow());
    const Result<> written = api_.WriteStatus(policy, status, stop);
    metrics_.CountWrite("status", written ? "written" : OutcomeName(OutcomeOf(written)));
    if (!written && !IsOutdated(written)) {
      log_.Warn("cannot write a round policy's status",
                {{"policy", policy.name}, {"error", written.error().message}});
    }
  }
}

void QueueController::AnswerChecks(bool decided_here, Instant decided,
                                   const std::stop_token& stop) {
  const QueueObjects objects = stores_.Snapshot();
  Activate(objects, stop);
  const Instant now = clock_.Now();
  // The time before this process's first call does not count as silence.
  if (!first_look_) first_look_ = now;
  const bool silent = now - std::max(decided, *first_look_) >= patience_;
  const std::vector<TypeAnswer> answers = PlanTypeAnswers(
      objects, decided_here ? &planner_.types() : nullptr, silent, patience_, clock_.WallNow());
  Written written;
  for (const TypeAnswer& answer : answers) {
    const Workload& workload = *answer.workload;
    const auto last = answers_written_.find(workload.uid);
    if (last != answers_written_.end() && last->second == workload.resource_version)
      written.insert(*last);
  }
  answers_written_ = std::move(written);
  for (const TypeAnswer& answer : answers) {
    // This process has lost the lead, so another replica decides from now on.
    if (decided_here && !may_act_()) return;
    Answer(answer, stop);
  }
}

void QueueController::Activate(const QueueObjects& objects, const std::stop_token& stop) {
  for (const auto& [name, check] : objects.checks) {
    if (check->controller != kTypeCheckController || check->active) continue;
    if (stop.stop_requested()) return;
    const Result<> written = api_.ActivateCheck(*check, clock_.WallNow(), stop);
    metrics_.CountWrite("check", written ? "written" : "failed");
    if (written) {
      log_.Info("admission check is answered", {{"check", name}});
    } else {
      log_.Warn("cannot write an admission check's status",
                {{"check", name}, {"error", written.error().message}});
    }
  }
}

void QueueController::Answer(const TypeAnswer& answer, const std::stop_token& stop) {
  const Workload& workload = *answer.workload;
  const Instant now = clock_.Now();
  const bool unseen = answers_written_.contains(workload.uid);
  if (unseen || stop.stop_requested() || answer_rate_.Next() > now) return;
  answer_rate_.Spend(1, now);
  const Result<> written = api_.AnswerCheck(workload, answer.check, answer.answer, stop);
  metrics_.CountWrite("check", written ? "written" : OutcomeName(OutcomeOf(written)));
  if (!written && !IsOutdated(written)) {
    log_.Warn("cannot write a workload's admission check",
              {{"workload", workload.Key()}, {"error", written.error().message}});
  }
  if (!written) return;
  answers_written_[workload.uid] = workload.resource_version;
  log_.Info("admission check", {{"workload", workload.Key()},
                                {"answer", ToString(answer.answer.phase)},
                                {"product", answer.answer.product},
                                {"because", answer.answer.message}});
  if (answer.notice) Record(*answer.notice);
}

}  // namespace synergy::controller
