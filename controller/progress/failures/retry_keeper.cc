#include "controller/progress/failures/retry_keeper.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/dns_name.h"
#include "controller/progress/failures/failure_judge.h"
#include "core/text/quantity_text.h"
#include "core/wall_time.h"
#include "failure/category.h"
#include "failure/rules.h"

namespace synergy::controller {
namespace {

// Kinds that Kueue suspends through their Workloads, in addition to Jobs and JobSets. Pods of other
// kinds may fail on their own: RayClusters replace workers, and PyTorchJobs may be elastic.
constexpr std::array<std::string_view, 2> kQueuedKinds = {"TrainJob", "MPIJob"};

// Failures further apart than this do not form a row, because runs between them may have left no
// record.
constexpr Duration kLongestRetryPause = std::chrono::hours(1);

// Returns whether the object itself can be suspended.
bool IsJobOrJobSet(const ObjectOwner& job) {
  return (job.kind == "Job" && job.api_version == "batch/v1") ||
         (job.kind == "JobSet" && job.api_version.starts_with("jobset.x-k8s.io/"));
}

// Returns the resource name that kubectl accepts for this kind, whatever other kinds are installed.
std::string_view ResourceOf(std::string_view kind) {
  if (kind == wire::kWorkloadKind) return "workloads.kueue.x-k8s.io";
  return kind == "JobSet" ? "jobsets.jobset.x-k8s.io" : "job";
}

FailedAttempt AttemptOf(const FailureRecord& record) {
  std::vector<std::string> nodes;
  if (!record.node.empty()) nodes.push_back(record.node);
  return {.category = CategoryNamed(record.category).value_or(Category::kUnknown),
          .outcome = {.cause = CauseNamed(record.cause).value_or(Cause::kUnknown),
                      .behaviour = BehaviourNamed(record.behaviour).value_or(Behaviour::kUnknown)},
          .started = record.started,
          .failed = record.at,
          .template_hash = record.workload,
          .image_id = record.image_id,
          .nodes = std::move(nodes),
          .iterations = record.iterations,
          .shared_gpu = record.shared_gpu,
          .oom_killed = IsOomKill(record.rule),
          .chosen_memory = record.chosen_memory,
          .fair_memory =
              record.fair_memory > Bytes(0) ? std::optional(record.fair_memory) : std::nullopt};
}

kube::EventRecord EventAbout(const std::string& of_namespace, const ObjectOwner& job,
                             const char* type, const char* reason, std::string message) {
  return {of_namespace, job.name,           job.uid,  type,
          reason,       std::move(message), job.kind, job.api_version};
}

bool IsToBeSuspended(const FailureRecord& record) {
  return record.to_suspend != WallTime{} && record.suspended == WallTime{};
}

// Returns whether the job's last failure has another category, template or image than this one.
bool HasFailedOtherwise(const FailureHistory& history, const FailureRecord& failure) {
  const FailureRecord* last = &failure;
  for (const FailureRecord& record : history.records) {
    if (record.leads && record.HasRun() && record.owner.uid == failure.owner.uid) last = &record;
  }
  return std::tie(last->category, last->workload, last->image_id) !=
         std::tie(failure.category, failure.workload, failure.image_id);
}

}  // namespace

FailingJob FailingJobOf(const FailureHistory& history, const FailureRecord& last) {
  FailingJob job{.job_namespace = history.of_namespace};
  const FailureRecord* attempted = nullptr;  // leads the last attempt
  for (const FailureRecord& record : history.records) {
    if (record.owner.uid != last.owner.uid || !record.HasRun()) continue;
    if (record.leads) {
      FailedAttempt attempt = AttemptOf(record);
      if (attempted == nullptr || IsRetry(RunOf(record), RunOf(*attempted))) {
        if (attempted != nullptr && record.started > attempted->at + kLongestRetryPause)
          job.attempts.clear();
        job.attempts.push_back(std::move(attempt));
        attempted = &record;
      } else if (FailedAttempt& same = job.attempts.back();
                 attempt.category != same.category || attempt.outcome.cause != same.outcome.cause) {
        same.category = Category::kUnknown;
      }
    }
    if (&record == &last) break;
    const WallTime suspended = std::max(record.to_suspend, record.suspended);
    if (suspended != WallTime{}) job.resumed = std::max(job.resumed.value_or(suspended), suspended);
  }
  return job;
}

RetryKeeper::RetryKeeper(kube::RetryApi& api, MemoryRaiser memory, bool kueue,
                         kube::EventRecorder& events, std::function<bool()> may_act,
                         const Clock& clock, Logger& log, metrics::ControllerMetrics& metrics)
    : api_(api),
      memory_(memory),
      kueue_(kueue),
      events_(events),
      may_act_(std::move(may_act)),
      clock_(clock),
      log_(log),
      metrics_(metrics),
      elsewhere_(api, events, may_act_, clock, log, metrics) {}

void RetryKeeper::StartOver(const std::map<std::string, FailureHistory>& histories) {
  limit_ = SuspensionLimit();
  elsewhere_.StartOver();
  failing_ = {};
  looks_.clear();
  examined_.clear();
  for (const auto& [name, history] : histories) {
    Look(name);
    for (const FailureRecord& record : history.records) {
      if (record.to_suspend != WallTime{}) limit_.Note(name, record.to_suspend);
    }
  }
}

std::vector<std::string> RetryKeeper::Due() const {
  const Instant now = clock_.Now();
  std::vector<std::string> due;
  for (const auto& [name, looked] : looks_) {
    if (looked.due <= now) due.push_back(name);
  }
  return due;
}

bool RetryKeeper::Step(FailureHistory& history, bool stored, const std::stop_token& stop) {
  const WallTime latest = clock_.WallNow() - kLatest;
  std::erase_if(examined_, [latest](const auto& entry) { return entry.second < latest; });
  // By the job's UID: the failure for which a job should be suspended, or else its last one.
  std::map<std::string_view, FailureRecord*> jobs;
  for (FailureRecord& record : history.records) {
    // A pod that waits for its start has not failed.
    if (!record.leads || !record.HasRun() || ActionsFor(record.owner) == RetryActions()) continue;
    FailureRecord*& known = jobs[record.owner.uid];
    if (known == nullptr || !IsToBeSuspended(*known)) known = &record;
  }
  bool changed = false;
  bool pending = false;
  size_t failed = 0;
  const size_t most = examined_.size() + kMostExamined;
  failing_.Forget(clock_.Now());
  for (const auto& [uid, record] : jobs) {
    if (examined_.size() >= most || failed >= kMostExamined) {
      pending = true;
      break;
    }
    if (failing_.Has(record->owner.uid, clock_.Now())) {
      looks_[history.of_namespace].due = clock_.Now() + kPause;
      pending = true;
      continue;
    }
    Outcome outcome = Outcome::kSettled;
    if (IsToBeSuspended(*record)) {
      outcome = stored ? Suspend(history, *record, stop) : Outcome::kPending;
    } else if (record->to_suspend == WallTime{} && record->at >= latest) {
      outcome = Examine(history, *record, stop);
    }
    changed |= outcome == Outcome::kChanged;
    pending |= outcome != Outcome::kChanged && outcome != Outcome::kSettled;
    failed += outcome == Outcome::kFailed ? 1 : 0;
    // The next call may take as long to fail.
    if (outcome == Outcome::kOutage) break;
  }
  if (!changed && !pending) looks_.erase(history.of_namespace);
  return changed;
}

RetryActions RetryKeeper::ActionsFor(const ObjectOwner& job) const {
  // Events are about the job, and the API server refuses events about objects with invalid names.
  if (job.uid.empty() || !IsDnsSubdomain(job.name)) return {};
  const bool can_be_suspended =
      IsJobOrJobSet(job) || (kueue_ && std::find(kQueuedKinds.begin(), kQueuedKinds.end(),
                                                 job.kind) != kQueuedKinds.end());
  return {.stop_futile = can_be_suspended, .elsewhere = true, .larger = true};
}

RetryKeeper::Outcome RetryKeeper::Examine(const FailureHistory& history, FailureRecord& last,
                                          const std::stop_token& stop) {
  const std::string& name = history.of_namespace;
  RunKey key{last.uid, last.container, last.run};
  if (examined_.contains(key)) return Outcome::kSettled;
  const WallTime now = clock_.WallNow();
  FailingJob job = FailingJobOf(history, last);
  const MemoryRaiser::Profile profile = memory_.ProfileOf(name, last);
  job.memory = memory_.MemoryBy(profile, last);
  RetryActions asked_for = ActionsFor(last.owner);
  const RetryDecision possible = DecideRetry(job, asked_for, SuspensionLimit(), now);
  if (last.enlarged == WallTime{} &&
      (possible.kind != RetryDecision::Kind::kNothing || possible.memory_outcome)) {
    const auto wish = ReadWish(name, last, stop);
    if (!wish) return TryLater(name, last.owner, wish.error());
    if (*wish && (*wish)->text) {
      const Result<RetryActions> actions = ParseRetryActions(*(*wish)->text);
      const std::string of = fmt::format("{} of {}", wire::kRetriesAnnotation, (*wish)->where);
      if (!actions) {
        RecordEvent(name, last.owner, "Warning", "SynergyRetries",
                    fmt::format("{}: {}; so its retries go on", of, actions.error().message));
      }
      asked_for.stop_futile &= actions && actions->stop_futile;
      asked_for.elsewhere &= actions && actions->elsewhere;
      asked_for.larger &= actions && actions->larger;
      job.independent_completions = (*wish)->independent_completions;
      asked_for.stop_futile &= now - last.at <= kLatestToSuspend;
      const RetryDecision decision = DecideRetry(job, asked_for, limit_, now);
      if (decision.kind == RetryDecision::Kind::kSuspend) {
        const auto found = FindStoppable(name, last, stop);
        if (!found) return TryLater(name, last.owner, found.error());
        if (!*found) {
          metrics_.CountSuspension("gone");
          examined_.emplace(std::move(key), last.at);
          return Outcome::kSettled;
        }
        last.to_suspend = now;
        limit_.Note(name, now);
        return Outcome::kChanged;
      }
      if (decision.memory_outcome) return Enlarge(name, last, profile, decision, stop);
      if (decision.kind == RetryDecision::Kind::kPreferOtherNodes)
        GoElsewhere(name, last, decision);
      else if (!decision.reason.empty())
        RecordEvent(name, last.owner, "Warning", "SynergyRetries", decision.reason);
    }
  }
  examined_.emplace(std::move(key), last.at);
  return Outcome::kSettled;
}

void RetryKeeper::GoElsewhere(const std::string& of_namespace, const FailureRecord& last,
                              const RetryDecision& decision) {
  // The webhook has not seen the pod, so similar pods cannot be recognised.
  if (last.workload.empty()) return;
  std::vector<AvoidedNode> nodes;
  for (const std::string& node : decision.nodes)
    nodes.push_back({of_namespace, last.workload, node, decision.until});
  elsewhere_.Add(
      std::move(nodes),
      EventAbout(of_namespace, last.owner, "Normal", "SynergyRetries",
                 fmt::format("{} than {} until {} ({}: elsewhere)", decision.reason,
                             fmt::join(decision.nodes, ", "),
                             ToTimeText(std::chrono::floor<std::chrono::seconds>(decision.until)),
                             wire::kRetriesAnnotation)));
}

RetryKeeper::Outcome RetryKeeper::Enlarge(const std::string& of_namespace, FailureRecord& last,
                                          const MemoryRaiser::Profile& profile,
                                          const RetryDecision& decision,
                                          const std::stop_token& stop) {
  const bool raises = decision.kind == RetryDecision::Kind::kEnlargeMemory;
  if (raises) {
    // Check again, because the calls take time.
    if (stop.stop_requested() || !may_act_()) return Outcome::kPending;
    if (const Result<> raised = memory_.Raise(profile, decision.raise, stop); !raised)
      return TryLater(of_namespace, last.owner, raised.error());
    log_.Info("the process memory of a workload is raised",
              {{"namespace", of_namespace},
               {"profile", last.profile},
               {"job", last.owner.name},
               {"process", ToQuantityText(decision.raise.process)},
               {"times", decision.raise.times}});
  }
  metrics_.CountMemoryRaise(ToString(*decision.memory_outcome));
  RecordEvent(
      of_namespace, last.owner, decision.next_memory > Bytes(0) ? "Normal" : "Warning",
      "SynergyRetries",
      fmt::format("{}: {} ({}: larger)", last.pod, decision.reason, wire::kRetriesAnnotation));
  examined_.emplace(RunKey{last.uid, last.container, last.run}, last.at);
  if (decision.next_memory <= Bytes(0)) return Outcome::kSettled;
  last.enlarged = clock_.WallNow();
  last.larger = decision.next_memory;
  return Outcome::kChanged;
}

Result<std::optional<RetryKeeper::Wish>> RetryKeeper::ReadWish(const std::string& of_namespace,
                                                               const FailureRecord& last,
                                                               const std::stop_token& stop) {
  Wish wish;
  if (IsJobOrJobSet(last.owner)) {
    auto job = api_.ReadJob(of_namespace, last.owner, stop);
    if (!job && job.error().code != ErrorCode::kNotFound) return Fail(job.error());
    // Only the outermost owner counts, but it could not be read.
    if (job && !job->owner.kind.empty()) return std::nullopt;
    if (!job || job->uid != last.owner.uid || job->finished) return std::nullopt;
    wish = {std::move(job->retries), fmt::format("{} {}", ResourceOf(job->kind), last.owner.name),
            job->independent_completions};
  }
  const auto look = [&wish](Result<std::optional<std::string>> read,
                            std::string where) -> Result<> {
    if (!read && read.error().code != ErrorCode::kNotFound) return Fail(read.error());
    if (read) wish.text = *std::move(read);
    wish.where = std::move(where);
    return {};
  };
  if (!wish.text && kueue_ && !last.queue.empty()) {
    const Result<> read = look(api_.ReadQueue(of_namespace, last.queue, stop),
                               fmt::format("local queue {}", last.queue));
    if (!read) return Fail(read.error());
  }
  if (!wish.text) {
    const Result<> read =
        look(api_.ReadNamespace(of_namespace, stop), fmt::format("namespace {}", of_namespace));
    if (!read) return Fail(read.error());
  }
  return wish;
}

bool RetryKeeper::AsksToStop(const std::optional<Wish>& wish) {
  if (!wish || !wish->text) return false;
  const Result<RetryActions> actions = ParseRetryActions(*wish->text);
  return actions && actions->stop_futile;
}

RetryKeeper::Outcome RetryKeeper::Suspend(const FailureHistory& history, FailureRecord& marked,
                                          const std::stop_token& stop) {
  const std::string& of_namespace = history.of_namespace;
  if (clock_.WallNow() - marked.to_suspend > kLatestToSuspend) {
    log_.Warn("a job whose retries are futile could not be suspended",
              {{"namespace", of_namespace}, {"job", marked.owner.name}});
    return Settle(marked, false, "given_up");
  }
  const auto found = FindStoppable(of_namespace, marked, stop);
  if (!found) return TryLater(of_namespace, marked.owner, found.error());
  if (!*found) return Settle(marked, false, "gone");
  const wire::StoppableJob& job = **found;
  const std::string decision = ToTimeText(marked.to_suspend);
  if (job.stopped_for == decision) {
    // An earlier call without an answer, or the previous leader, has suspended the job. Its user
    // may have resumed it since.
    if (job.stopped) Announce(of_namespace, marked, job);
    return Settle(marked, true, "suspended");
  }
  if (job.stopped) return Settle(marked, true, "by_others");
  const auto wish = ReadWish(of_namespace, marked, stop);
  if (!wish) return TryLater(of_namespace, marked.owner, wish.error());
  if (!AsksToStop(*wish) || HasFailedOtherwise(history, marked))
    return Settle(marked, false, "withdrawn");
  // Check again, because the calls take time.
  if (stop.stop_requested() || !may_act_()) return Outcome::kPending;
  if (const Result<> stopped = api_.Stop(job, decision, stop); !stopped)
    return TryLater(of_namespace, marked.owner, stopped.error());
  Announce(of_namespace, marked, job);
  return Settle(marked, true, "suspended");
}

Result<std::optional<wire::StoppableJob>> RetryKeeper::FindStoppable(
    const std::string& of_namespace, const FailureRecord& failure, const std::stop_token& stop) {
  const ObjectOwner& job = failure.owner;
  if (kueue_) {
    auto workloads = api_.ReadWorkloads(of_namespace, job.uid, stop);
    if (!workloads && workloads.error().code != ErrorCode::kNotFound)
      return Fail(workloads.error());
    if (workloads) {
      for (wire::StoppableJob& workload : *workloads) {
        if (workload.owner.uid == job.uid && !workload.finished) return std::move(workload);
      }
    }
  }
  // Kueue restarts a job that is suspended on its own.
  if (!IsJobOrJobSet(job) || (kueue_ && !failure.queue.empty())) return std::nullopt;
  auto read = api_.ReadJob(of_namespace, job, stop);
  if (!read && read.error().code != ErrorCode::kNotFound) return Fail(read.error());
  if (!read || read->uid != job.uid || read->finished) return std::nullopt;
  return *std::move(read);
}

RetryKeeper::Outcome RetryKeeper::Settle(FailureRecord& marked, bool is_suspended,
                                         const char* outcome) {
  metrics_.CountSuspension(outcome);
  if (is_suspended) {
    marked.suspended = clock_.WallNow();
  } else {
    marked.to_suspend = {};
    examined_.emplace(RunKey{marked.uid, marked.container, marked.run}, marked.at);
  }
  return Outcome::kChanged;
}

RetryKeeper::Outcome RetryKeeper::TryLater(const std::string& of_namespace, const ObjectOwner& job,
                                           const Error& error) {
  Looked& looked = looks_[of_namespace];
  looked.due = clock_.Now() + kPause;
  if (std::exchange(looked.error, error.code) != error.code) {
    log_.Warn("cannot act on the retries of a job",
              {{"namespace", of_namespace}, {"job", job.name}, {"error", error.message}});
  }
  if (IsOutage(error)) return Outcome::kOutage;
  failing_.Failed(job.uid, clock_.Now(), kPause);
  return Outcome::kFailed;
}

void RetryKeeper::Announce(const std::string& of_namespace, const FailureRecord& marked,
                           const wire::StoppableJob& stopped) {
  const CategoryEntry& entry = EntryOf(CategoryNamed(marked.category).value_or(Category::kUnknown));
  log_.Info("a job is suspended: its retries are futile",
            {{"namespace", of_namespace}, {"job", marked.owner.name}, {"category", entry.name}});
  RecordEvent(
      of_namespace, marked.owner, "Warning", "SynergySuspended",
      fmt::format("Suspended, because its retries are futile: attempts of the same template and "
                  "image fail alike soon after they start: {}: {} ({}: stop-futile). To resume "
                  "it: kubectl patch {} {} -n {} --type merge -p '{}'",
                  entry.name, entry.meaning, wire::kRetriesAnnotation, ResourceOf(stopped.kind),
                  stopped.name, of_namespace, wire::WriteResume(stopped.kind)));
}

void RetryKeeper::RecordEvent(const std::string& of_namespace, const ObjectOwner& job,
                              const char* type, const char* reason, std::string message) {
  events_.Record(EventAbout(of_namespace, job, type, reason, std::move(message)));
}

}  // namespace synergy::controller
