#include "controller/queues/prerun_keeper.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "core/gpu_amount.h"
#include "core/wall_time.h"
#include "failure/category.h"
#include "wire/kueue/prerun.h"
#include "wire/kueue/stoppable_job.h"

namespace synergy::controller {
namespace {

template <class T>
auto SharedOf(const KeyedStore<T>& store) {
  std::vector<std::shared_ptr<const T>> all;
  for (const auto& [key, object] : store.Snapshot()) all.push_back(object);
  return all;
}

PrerunFailure FailureOf(const FailureRecord& record) {
  return {.category = CategoryNamed(record.category).value_or(Category::kUnknown),
          .outcome = {.cause = CauseNamed(record.cause).value_or(Cause::kUnknown),
                      .behaviour = BehaviourNamed(record.behaviour).value_or(Behaviour::kUnknown)},
          .evidence = record.evidence};
}

// Returns text such as "import: a Python module or a name in it is missing: EVIDENCE".
std::string Describe(const PrerunFailure& failure) {
  const CategoryEntry& entry = EntryOf(failure.category);
  return fmt::format("{}: {}{}{}", entry.name, entry.meaning, failure.evidence.empty() ? "" : ": ",
                     failure.evidence);
}

// Returns whether a call failed because the object has changed or is gone. The watch will report
// the change.
bool WasOutdated(const Result<>& done) {
  return !done &&
         (done.error().code == ErrorCode::kConflict || done.error().code == ErrorCode::kNotFound);
}

}  // namespace

PrerunKeeper::PrerunKeeper(kube::PrerunApi& api, Settings settings, kube::EventRecorder& events,
                           std::function<bool()> may_act, const Clock& clock, Logger& log,
                           metrics::ControllerMetrics& metrics)
    : api_(api),
      settings_(std::move(settings)),
      events_(events),
      may_act_(std::move(may_act)),
      clock_(clock),
      log_(log),
      metrics_(metrics) {}

void PrerunKeeper::StartOver() {
  limit_ = SuspensionLimit();
  looked_.clear();
  judged_.clear();
  unanswered_.clear();
  due_ = Instant::min();
  error_.reset();
}

PrerunState PrerunKeeper::State(const std::map<std::string, FailureHistory>& histories) const {
  PrerunState state{.workloads = SharedOf(workloads_), .trials = SharedOf(trials_), .failures = {}};
  std::set<std::string_view> uids;
  std::set<std::string_view> namespaces;
  for (const PrerunPlan::Trial& trial : state.trials) {
    if (judged_.contains(trial->uid)) continue;
    uids.insert(trial->uid);
    namespaces.insert(trial->its_namespace);
  }
  for (const std::string_view name : namespaces) {
    const auto history = histories.find(std::string(name));
    if (history == histories.end()) continue;
    for (const FailureRecord& record : history->second.records) {
      if (record.leads && uids.contains(record.owner.uid))
        state.failures.insert_or_assign(record.owner.uid, FailureOf(record));
    }
  }
  return state;
}

void PrerunKeeper::Step(const std::map<std::string, FailureHistory>& histories,
                        const std::stop_token& stop) {
  const Instant now = clock_.Now();
  if (now < due_) return;
  const PrerunState state = State(histories);
  std::set<std::string_view> waiting;
  for (const PrerunPlan::Workload& workload : state.workloads) {
    if (workload->Waits()) waiting.insert(workload->job.uid);
  }
  std::erase_if(looked_, [&](const auto& entry) { return !waiting.contains(entry.first); });
  std::set<std::string_view> present;
  for (const PrerunPlan::Trial& trial : state.trials) present.insert(trial->uid);
  std::erase_if(judged_, [&](const std::string& uid) { return !present.contains(uid); });
  for (const PrerunPlan::Workload& workload : state.workloads) {
    if (const auto stopped = unanswered_.extract(workload->stopped))
      Announce(*workload, stopped.mapped());
  }
  std::erase_if(unanswered_, [&](const auto& entry) { return !present.contains(entry.first); });

  const PrerunPlan plan = PlanPreruns(
      state,
      [&](const PrerunWorkload& workload) {
        const auto looked = looked_.find(workload.job.uid);
        return looked == looked_.end() || looked->second <= now;
      },
      PrerunLimits(), clock_.WallNow());
  std::vector<std::function<Result<>()>> calls;
  for (const auto& trial : plan.end)
    calls.emplace_back([this, &trial, &stop] { return End(*trial, stop); });
  for (const auto& [workload, trial] : plan.note)
    calls.emplace_back([this, &workload, &trial, &stop] { return Note(*workload, *trial, stop); });
  for (const auto& [workload, trial] : plan.stop) {
    calls.emplace_back([this, &state, &workload, &trial, &stop] {
      return Stop(*workload, *trial, state.failures.at(trial->uid), stop);
    });
  }
  for (const auto& [workload, trial] : plan.report) {
    calls.emplace_back([this, &state, &workload, &trial] {
      return Report(*workload, *trial, state.failures.at(trial->uid));
    });
  }
  for (const auto& workload : plan.begin)
    calls.emplace_back([this, &workload, &stop] { return Begin(*workload, stop); });
  if (calls.size() > kMostCalls) {
    // Begin with other calls in each step, so that calls that always fail do not block the rest.
    std::rotate(calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(served_ % calls.size()),
                calls.end());
    served_ += kMostCalls;
    calls.resize(kMostCalls);
  }
  for (const auto& call : calls) {
    // Check again, because the calls take time.
    if (stop.stop_requested() || !may_act_()) return;
    const Result<> done = call();
    if (!done) {
      due_ = clock_.Now() + kPause;
      if (std::exchange(error_, done.error().code) != done.error().code)
        log_.Warn("a call for a pre-run failed; it is tried again",
                  {{"error", done.error().message}});
      if (IsOutage(done.error())) return;
    }
  }
  if (due_ <= now) error_.reset();
}

std::optional<PrerunKeeper::Wish> PrerunKeeper::WishOf(const PrerunWorkload& workload,
                                                       const std::optional<std::string>& of_job,
                                                       const PrerunQueue* queue) {
  if (of_job) return Wish{*of_job, fmt::format("job {}", workload.job.name)};
  if (queue == nullptr || !queue->prerun) return std::nullopt;
  return Wish{*queue->prerun, fmt::format("local queue {}", queue->name)};
}

// Without its PriorityClass a trial would wait forever, because Kueue creates no Workload for it.
Result<std::string> PrerunKeeper::Obstacle(const std::stop_token& stop) {
  const Result<bool> there = api_.HasPriorityClass(settings_.priority_class, stop);
  if (!there && there.error().code == ErrorCode::kDenied) return there.error().message;
  if (!there) return Fail(there.error());
  if (*there) return std::string();
  return fmt::format(
      "there is no PriorityClass {}, by which trials evict no pods; Synergy's chart has it",
      settings_.priority_class);
}

Result<PrerunKeeper::TrialPlace> PrerunKeeper::PlaceOf(const PrerunWorkload& workload,
                                                       const PrerunQueue* queue) const {
  const auto none = [](std::string why) { return Fail(ErrorCode::kInvalid, std::move(why)); };
  if (queue == nullptr || queue->trial_queue.empty()) {
    return none(
        fmt::format("the local queue {} lacks the annotation {}, which names the local "
                    "queue for trials",
                    workload.queue, wire::kTrialQueueAnnotation));
  }
  const auto trials = queues_.Find(workload.its_namespace + "/" + queue->trial_queue);
  const std::string where =
      fmt::format("{} of the local queue {}", wire::kTrialQueueAnnotation, workload.queue);
  if (trials == nullptr)
    return none(fmt::format("{}: there is no local queue {}", where, queue->trial_queue));
  if (trials->cluster_queue == queue->cluster_queue) {
    return none(
        fmt::format("{}: {} belongs to the same cluster queue, so that jobs would wait "
                    "for trials; name one of another cluster queue",
                    where, queue->trial_queue));
  }
  const std::string resource =
      trials->trial_resource.empty() ? settings_.gpu_resource : trials->trial_resource;
  if (resource != settings_.gpu_resource && resource != SharedResource(settings_.gpu_resource) &&
      resource != TurnsResource(settings_.gpu_resource)) {
    return none(fmt::format("{} of the local queue {}: write {}, {} or {}",
                            wire::kTrialResourceAnnotation, trials->name, settings_.gpu_resource,
                            SharedResource(settings_.gpu_resource),
                            TurnsResource(settings_.gpu_resource)));
  }
  return TrialPlace{trials->name, resource};
}

Result<> PrerunKeeper::Begin(const PrerunWorkload& workload, const std::stop_token& stop) {
  const auto queue = queues_.Find(workload.its_namespace + "/" + workload.queue);
  // Postpones the next look at the job.
  const auto look_again = [&] {
    looked_.insert_or_assign(workload.job.uid, clock_.Now() + kAgain);
    return Result<>();
  };
  const auto refuse = [&](std::string why) {
    Refuse(workload, std::move(why));
    return look_again();
  };
  const bool is_job = workload.job.kind == "Job" && workload.job.api_version == "batch/v1";
  std::optional<wire::PrerunJob> job;
  std::string text;
  if (is_job) {
    Result<std::string> read = api_.ReadJob(workload.its_namespace, workload.job.name, stop);
    if (!read && read.error().code == ErrorCode::kNotFound) return look_again();
    if (!read) return Fail(read.error());
    Result<wire::PrerunJob> parsed = wire::ReadPrerunJob(*read, settings_.gpu_resource);
    if (!parsed || parsed->uid != workload.job.uid) return look_again();
    job = *std::move(parsed);
    text = *std::move(read);
  }
  const auto wish = WishOf(workload, job ? job->prerun : std::nullopt, queue.get());
  if (!wish) return look_again();
  const Result<Duration> limit = ParsePrerun(wish->text);
  if (!limit) {
    return refuse(
        fmt::format("{} of {}: {}", wire::kPrerunAnnotation, wish->where, limit.error().message));
  }
  if (*limit == Duration::zero()) return look_again();
  if (!is_job) return refuse(fmt::format("a {} has none, only a Job", workload.job.kind));
  if (!job->problem.empty()) return refuse(job->problem);
  const Result<TrialPlace> place = PlaceOf(workload, queue.get());
  if (!place) return refuse(place.error().message);
  const Result<std::string> obstacle = Obstacle(stop);
  if (!obstacle) return Fail(obstacle.error());
  if (!obstacle->empty()) {
    metrics_.CountPrerun("refused");
    return refuse(*obstacle);
  }
  const Result<std::string> trial =
      wire::WriteTrial(text, {place->queue, place->resource, *limit, settings_.priority_class},
                       settings_.gpu_resource);
  if (!trial) return look_again();
  const Result<> begun = api_.Begin(workload.its_namespace, *trial, stop);
  if (!begun) {
    switch (begun.error().code) {
      case ErrorCode::kConflict:  // The trial exists: an earlier call without an answer created it.
      case ErrorCode::kNotFound:  // The namespace is gone.
        return look_again();
      case ErrorCode::kDenied:
      case ErrorCode::kInvalid:
        metrics_.CountPrerun("refused");
        return refuse(begun.error().message);
      default:
        return Fail(begun.error());
    }
  }
  metrics_.CountPrerun("begun");
  RecordEvent(workload, "Normal", "SynergyPrerun",
              fmt::format("While it waits, a trial of it runs for at most {} ({} of {}): job {} in "
                          "the local queue {}",
                          wish->text, wire::kPrerunAnnotation, wish->where,
                          wire::TrialName(workload.job.uid), place->queue));
  return look_again();
}

Result<> PrerunKeeper::End(const PrerunTrial& trial, const std::stop_token& stop) {
  Result<> ended = api_.End(trial, stop);
  if (WasOutdated(ended)) return {};
  if (ended) metrics_.CountPrerun("ended");
  return ended;
}

Result<> PrerunKeeper::Note(const PrerunWorkload& workload, const PrerunTrial& trial,
                            const std::stop_token& stop) {
  Result<> noted = api_.Note(workload, trial.uid, stop);
  if (WasOutdated(noted)) return {};
  return noted;
}

Result<> PrerunKeeper::Report(const PrerunWorkload& workload, const PrerunTrial& trial,
                              const PrerunFailure& failure) {
  Leave(workload, trial, failure, "such a failure of a trial does not show that it fails, too");
  return {};
}

void PrerunKeeper::Leave(const PrerunWorkload& workload, const PrerunTrial& trial,
                         const PrerunFailure& failure, std::string_view why) {
  RecordEvent(workload, "Warning", "SynergyPrerun",
              fmt::format("Its trial, job {}, failed: {}; it is not stopped, because {}",
                          trial.name, Describe(failure), why));
  judged_.insert(trial.uid);
}

Result<> PrerunKeeper::Stop(const PrerunWorkload& workload, const PrerunTrial& trial,
                            const PrerunFailure& failure, const std::stop_token& stop) {
  const auto leave = [&](std::string_view why) {
    if (!why.empty()) Leave(workload, trial, failure, why);
    judged_.insert(trial.uid);
    return Result<>();
  };
  const Result<std::string> read = api_.ReadJob(workload.its_namespace, workload.job.name, stop);
  if (!read && read.error().code == ErrorCode::kNotFound) return leave("");
  if (!read) return Fail(read.error());
  const Result<wire::PrerunJob> job = wire::ReadPrerunJob(*read, settings_.gpu_resource);
  if (!job || job->uid != workload.job.uid) return leave("");
  const auto queue = queues_.Find(workload.its_namespace + "/" + workload.queue);
  const auto wish = WishOf(workload, job->prerun, queue.get());
  const Result<Duration> limit =
      wish ? ParsePrerun(wish->text) : Result<Duration>(Duration::zero());
  if (!limit || *limit == Duration::zero())
    return leave(fmt::format("{} no longer asks for that", wire::kPrerunAnnotation));
  if (!PreventsStart(failure, job->independent_completions))
    return leave("its other completions may succeed");
  if (!limit_.Allows(workload.its_namespace, clock_.WallNow()))
    return leave("as many jobs as are allowed were stopped within the last hour");
  if (stop.stop_requested() || !may_act_()) return {};
  Result<> stopped = api_.Stop(workload, trial.uid, stop);
  if (WasOutdated(stopped)) return {};
  if (!stopped) {
    // The call may have taken effect.
    if (IsOutage(stopped.error())) unanswered_.insert_or_assign(trial.uid, failure);
    return stopped;
  }
  Announce(workload, failure);
  return {};
}

void PrerunKeeper::Announce(const PrerunWorkload& workload, const PrerunFailure& failure) {
  limit_.Note(workload.its_namespace, clock_.WallNow());
  metrics_.CountPrerun("stopped");
  log_.Info("a job is stopped before its start: its trial failed",
            {{"namespace", workload.its_namespace},
             {"job", workload.job.name},
             {"category", ToString(failure.category)}});
  RecordEvent(workload, "Warning", "SynergyPrerunFailed",
              fmt::format("Deactivated before its start, because its trial, job {}, failed as it "
                          "would: {}. To start it nevertheless: kubectl patch "
                          "workloads.kueue.x-k8s.io {} -n {} --type merge -p '{}'",
                          wire::TrialName(workload.job.uid), Describe(failure), workload.name,
                          workload.its_namespace, wire::WriteResume(wire::kWorkloadKind)));
}

void PrerunKeeper::Refuse(const PrerunWorkload& workload, std::string why) {
  RecordEvent(workload, "Warning", "SynergyPrerun", "No trial of it runs: " + why);
}

void PrerunKeeper::RecordEvent(const PrerunWorkload& workload, const char* type, const char* reason,
                               std::string message) {
  events_.Record(
      kube::AboutOwner(workload.its_namespace, workload.job, type, reason, std::move(message)));
}

}  // namespace synergy::controller
