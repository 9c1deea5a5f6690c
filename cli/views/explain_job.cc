#include "cli/views/explain_job.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/text/amounts.h"
#include "cli/views/pod_view.h"
#include "core/text/quantity_text.h"
#include "core/wall_time.h"
#include "queues/round_workload.h"
#include "wire/kueue/kueue.h"

namespace synergy::cli {
namespace {

bool IsOfQueues(const wire::EventAboutPod& event) {
  return event.reason.starts_with("Synergy") || event.component.find("kueue") != std::string::npos;
}

void RemarkOnQueue(const Workload& workload, const QueueView& queue, WallTime now,
                   std::vector<std::string>& remarks) {
  if (queue.name.empty()) {
    remarks.push_back(
        fmt::format("its queue is unknown: there is no LocalQueue {}, or you may not read it",
                    workload.local_queue));
  } else if (queue.round_policy.empty()) {
    remarks.emplace_back(
        "no RoundPolicy orders its queue: Kueue uses its priority alone, and its service and "
        "waiting times are not recorded");
  } else if (!queue.problem.empty()) {
    remarks.push_back(fmt::format("RoundPolicy {} does not order its queue: {}", queue.round_policy,
                                  queue.problem));
  }
  if (!workload.active) {
    remarks.emplace_back(
        "it is stopped (spec.active of the Workload is false), by its user, or by Kueue when its "
        "pods were not ready in time too often (waitForPodsReady)");
  } else if (InBackoff(workload, now)) {
    remarks.push_back(fmt::format(
        "Kueue has requeued it, because its pods were not ready in time (waitForPodsReady) or an "
        "admission check rejected it, and does not admit it before {}",
        ToTimeText(workload.requeue_at)));
  } else if (!queue.round_policy.empty() && !workload.may_lose_turn) {
    remarks.push_back(fmt::format(
        "once it runs it is not suspended: it does not declare checkpoints (annotation {} of its "
        "pod template, or its profile), or Kueue does not suspend jobs of its kind",
        kCheckpointAnnotation));
  }
}

void RemarkOnDeadline(const Workload& workload, const std::optional<RoundService>& service,
                      WallTime now, std::vector<std::string>& remarks) {
  if (!workload.deadline) return;
  const std::string at = ToTimeText(*workload.deadline);
  const Seconds left = *workload.deadline - now;
  if (left <= Seconds(0)) {
    remarks.push_back(fmt::format("its deadline, {}, has passed", at));
  } else if (!service || !service->remaining) {
    remarks.push_back(
        fmt::format("whether it ends by its deadline, {}, is unknown: its progress does not show "
                    "the time that it needs",
                    at));
  } else if (*service->remaining > left) {
    remarks.push_back(fmt::format(
        "it may miss its deadline, {}: by its progress it needs {} more, and {} are left", at,
        ToShortText(*service->remaining), ToShortText(left)));
  }
}

std::string TrainerStatusText(const TrainerStatus& trainer_status, WallTime now) {
  const std::string percent = trainer_status.percent
                                  ? fmt::format("{} % done", *trainer_status.percent)
                                  : "progress unknown";
  const std::string left = trainer_status.remaining
                               ? ToShortText(*trainer_status.remaining) + " left"
                               : "remaining time unknown";
  const Seconds age = std::max<Seconds>(now - trainer_status.at, Seconds(0));
  return fmt::format("TrainJob status, {} ago: {}, {}\n", ToShortText(age), percent, left);
}

Tree TrainerStatusTree(const TrainerStatus& trainer_status) {
  const auto remaining = trainer_status.remaining ? std::optional(trainer_status.remaining->count())
                                                  : std::optional<double>();
  return Tree::Members{
      {"progressPercentage", trainer_status.percent ? Tree(*trainer_status.percent) : Tree()},
      {"remainingSeconds", remaining},
      {"at", ToTimeText(trainer_status.at)}};
}

}  // namespace

Result<const Workload*> FindJob(const QueueFacts& facts, const std::string& job_namespace,
                                const std::string& name) {
  std::vector<const Workload*> present;
  const Workload* ended = nullptr;
  for (const Workload& workload : facts.workloads) {
    if (workload.workload_namespace != job_namespace) continue;
    if (workload.name != name && workload.owner.name != name) continue;
    if (!workload.finished) {
      present.push_back(&workload);
    } else if (ended == nullptr || ended->created < workload.created) {
      ended = &workload;
    }
  }
  if (present.size() > 1) {
    std::vector<std::string> names;
    for (const Workload* workload : present)
      names.push_back(fmt::format("{} ({})", workload->name, workload->owner.kind));
    std::sort(names.begin(), names.end());
    return Fail(ErrorCode::kInvalid,
                fmt::format("there are several jobs {}: name one of the Workloads {}", name,
                            fmt::join(names, " or ")));
  }
  if (!present.empty()) return present.front();
  if (ended != nullptr) return ended;
  return Fail(ErrorCode::kNotFound, fmt::format("Kueue has no Workload for a job {} in namespace "
                                                "{}: set the job's label kueue.x-k8s.io/queue-name",
                                                name, job_namespace));
}

JobExplanation ExplainJob(const QueueFacts& facts, const Workload& workload,
                          std::vector<wire::EventAboutPod> events, WallTime now) {
  JobExplanation explanation;
  explanation.local_queue = workload.local_queue;
  explanation.remarks = facts.notes;
  std::copy_if(events.begin(), events.end(), std::back_inserter(explanation.events), IsOfQueues);
  std::stable_sort(explanation.events.begin(), explanation.events.end(),
                   [](const auto& a, const auto& b) { return a.last < b.last; });
  const std::string queue = QueueOf(facts, workload);
  if (!queue.empty()) explanation.queue = ViewQueue(facts, queue, now);
  explanation.job = ViewEnded(workload);
  if (workload.finished) return explanation;
  // The queue's view omits workloads without GPUs. These keep the state that is set here.
  explanation.job.state = workload.has_quota ? "starts" : "waits";
  for (const QueuedView& one : explanation.queue.workloads) {
    const bool is_it =
        one.workload_namespace == workload.workload_namespace && one.workload == workload.name;
    if (is_it) explanation.job = one;
  }
  RemarkOnQueue(workload, explanation.queue, now, explanation.remarks);
  RemarkOnDeadline(workload, explanation.job.service, now, explanation.remarks);
  return explanation;
}

Tree ToTree(const JobExplanation& explanation) {
  const QueueView& queue = explanation.queue;
  Tree::List attempts;
  for (const FailedAttempt& attempt : explanation.attempts) attempts.push_back(ToTree(attempt));
  Tree::List remarks;
  for (const std::string& remark : explanation.remarks) remarks.emplace_back(remark);
  return Tree::Members{
      {"job", ToTree(explanation.job)},
      {"localQueue", explanation.local_queue},
      {"trainerStatus",
       explanation.trainer_status ? TrainerStatusTree(*explanation.trainer_status) : Tree()},
      {"queue", Tree::Members{{"name", queue.name},
                              {"roundPolicy", queue.round_policy},
                              {"policy", queue.round_policy.empty() ? "" : queue.settings.policy},
                              {"gpuTypes", std::string(ToString(queue.settings.gpu_types))},
                              {"workers", queue.settings.elastic ? "Elastic" : "Fixed"},
                              {"problem", queue.problem},
                              {"gpus", queue.quota ? Tree(queue.quota->count()) : Tree()},
                              {"running", static_cast<int64_t>(queue.running)},
                              {"waiting", static_cast<int64_t>(queue.waiting)}}},
      {"attempts", std::move(attempts)},
      {"events", ToTree(explanation.events)},
      {"remarks", std::move(remarks)}};
}

std::string ToText(const JobExplanation& explanation, WallTime now) {
  const QueuedView& job = explanation.job;
  std::string text =
      fmt::format("{} {}: {}, {} (workload {})\n", job.kind.empty() ? "Workload" : job.kind,
                  job.Name(), job.state, DescribeGpus(job.gpus), job.workload);
  if (!explanation.queue.name.empty()) {
    text +=
        fmt::format("{} (local queue {})\n", HeadLine(explanation.queue), explanation.local_queue);
  }
  if (job.band) {
    text += fmt::format("  band {}", ToString(*job.band));
    if (job.place)
      text += fmt::format(", place {} of {} waiting jobs", *job.place, explanation.queue.waiting);
    text += job.why.empty() ? "\n" : fmt::format(": {}\n", job.why);
  }
  if (!job.product_why.empty()) {
    const std::string_view none = job.state == "waits" ? "none yet" : "any";
    text +=
        fmt::format("GPU type {}: {}\n", job.product.empty() ? none : job.product, job.product_why);
  }
  if (job.service) {
    const RoundService& had = *job.service;
    text += fmt::format("Attained service {:.0f} GPU-seconds; it lost its turn {} times",
                        had.served, had.lost_turns);
    if (had.remaining)
      text += fmt::format("; it needs {} more by its progress", ToShortText(*had.remaining));
    text += fmt::format(
        "\nHas waited {} for quota or its turn (fair-share delay), {} for nodes (fragmentation "
        "delay)\n",
        ToShortText(had.delays.fair_share), ToShortText(had.delays.fragmentation));
  }
  if (explanation.trainer_status) text += TrainerStatusText(*explanation.trainer_status, now);
  if (!job.unplaced.empty()) {
    text += fmt::format("Pods without a node: {} (`explain pod` says why)\n",
                        fmt::join(job.unplaced, ", "));
  }
  text += AttemptsText(explanation.attempts, now);
  text += EventsText(explanation.events, now);
  for (const std::string& remark : explanation.remarks) text += fmt::format("Note: {}\n", remark);
  return text;
}

}  // namespace synergy::cli
