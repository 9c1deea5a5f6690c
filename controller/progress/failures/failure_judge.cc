#include "controller/progress/failures/failure_judge.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "failure/classify.h"
#include "failure/evidence.h"
#include "failure/rules.h"

namespace synergy::controller {
namespace {

// An exporter may date an Xid too early, by up to its interval.
constexpr Duration kXidEarly = std::chrono::seconds(30);
// An agent's reports may be dated after the end by a second, because the kubelet's times are whole
// seconds.
constexpr Duration kLate = std::chrono::seconds(1);
// How far the clocks of nodes may differ from the API server's, whose times are whole seconds.
constexpr Duration kClocks = std::chrono::seconds(2);
// Agents check every few seconds which pods share GPUs.
constexpr Duration kShareSeen = std::chrono::seconds(30);
// A memory change this shortly before the end may not have taken effect.
constexpr Duration kResizeTakes = std::chrono::seconds(30);

LogReading ReadingOf(const LogEvidence& log) {
  LogReading reading{.finished = log.finished,
                     .iterations = std::max<int64_t>(log.iterations, 0),
                     .since_iteration = log.since_iteration};
  // An agent of another version may have different rules. The line comes from a tenant, regardless
  // of the agent's version.
  if (const LogRule* const rule = LogRuleNamed(log.rule))
    reading.finding = LogFinding{rule, Evidence(log.evidence), log.time};
  return reading;
}

void AddAct(Act act, const std::optional<WallTime>& at, WallTime end, FailureFacts& facts) {
  if (at && *at <= end) facts.acts.push_back({act, end - *at});
}

// Adds Synergy's acts by their names. Omits acts before the run or after its end, and sharing that
// ended before the run did.
void AddActs(const std::vector<PodAct>& acts, WallTime started, WallTime ended,
             FailureFacts& facts) {
  for (const PodAct& done : acts) {
    const auto known = std::find_if(ActNames().begin(), ActNames().end(),
                                    [&](const ActName& name) { return name.name == done.act; });
    if (known == ActNames().end() || done.at < started || done.at > ended + kLate) continue;
    if (known->act == Act::kShare && ended - done.at > kShareSeen) continue;
    facts.acts.push_back({known->act, std::max(ended - done.at, WallTime::duration::zero())});
  }
}

// Returns whether the failure's log line is older than the deletion of its pod. The rank that made
// a gang fail often hangs, so it is deleted last.
bool PrecedesDeletion(const LogEvidence* log, const JobFailure& failure, const EndedPod& pod) {
  return log != nullptr && log->rule == failure.rule && log->time &&
         *log->time + kClocks < pod.asked_to_end;
}

// Adds the costs of the run's end: the training since its last checkpoint, and its start-up, which
// the next attempt repeats. Ignores times outside the run, because an agent may report any time.
void AddLosses(const LogEvidence& log, const ContainerEnd& end, FailureRecord& record) {
  if (end.started == WallTime{} || end.finished == WallTime{}) return;
  const auto within = [&end](const std::optional<WallTime>& at) {
    return at && *at >= end.started && *at <= end.finished + kLate;
  };
  if (within(log.checkpoint)) {
    record.unsaved = std::max(end.finished - *log.checkpoint, WallTime::duration::zero());
  }
  if (within(log.first_iteration)) record.startup = *log.first_iteration - end.started;
}

// Omits Xids of earlier runs of the container, and those that its end may have caused.
void AddXids(const std::vector<PodXid>& xids, WallTime started, WallTime ended,
             FailureFacts& facts) {
  for (const PodXid& seen : xids) {
    if (seen.at < started - kXidEarly || seen.at > ended + kLate) continue;
    facts.xids.push_back({seen.xid, std::max(ended - seen.at, WallTime::duration::zero())});
  }
}

// Returns the classification of a container that waits; nullopt if no rule has its reason.
std::optional<JobFailure> ClassifyWait(const ContainerWait& wait) {
  FailureFacts facts;
  facts.reason = wait.reason;
  facts.message = wait.message;
  std::optional<JobFailure> failure = Classify(facts);
  const auto rules = ReasonRules();
  const bool by_reason = failure && std::any_of(rules.begin(), rules.end(), [&](const auto& rule) {
                           return rule.name == failure->rule;
                         });
  return by_reason ? std::move(failure) : std::nullopt;
}

// Returns whether the cause is reported only with the next try, as by kubelets before 1.32.
bool LacksCause(const ContainerWait& wait) {
  return wait.reason == "ImagePullBackOff" && (wait.message.empty() || wait.message.ends_with('"'));
}

// Returns a record of the pod and its failure, whether the pod has run or not.
FailureRecord RecordOf(const EndedPod& pod, const JobFailure& failure, WallTime at) {
  return {.at = at,
          .pod = pod.name,
          .uid = pod.uid,
          .container = pod.container,
          .node = pod.node,
          .owner = pod.owner,
          .queue = pod.queue,
          .user = pod.user.empty() ? pod.pod_namespace : pod.user,
          .rank = pod.rank,
          .category = std::string(ToString(failure.category)),
          .cause = std::string(ToString(failure.outcome.cause)),
          .behaviour = std::string(ToString(failure.outcome.behaviour)),
          .advice = std::string(ToString(failure.outcome.advice)),
          .act = failure.act ? std::string(Describe(*failure.act)) : "",
          .rule = failure.rule,
          .evidence = failure.evidence,
          .attempt = at,
          .workload = pod.workload,
          .shared_gpu = pod.slices > Slices(0) || pod.shared_gpu.value_or(true),
          .created = pod.created};
}

auto KeyOf(const FailureRecord& record) {
  return std::tie(record.uid, record.container, record.run);
}

// Gives the leading record the iterations of its attempt, and the costs of its end. Often only rank
// 0 prints iterations, so the leading record may have none of its own.
void JoinProgress(const std::vector<FailureRecord>& records, FailureRecord& leads) {
  const bool has_first = std::any_of(records.begin(), records.end(),
                                     [](const FailureRecord& each) { return each.rank == "0"; });
  if (leads.iterations == 0 && !leads.rank.empty() && !has_first) leads.iterations.reset();
  for (const FailureRecord& each : records) {
    if (each.iterations > 0) leads.iterations = std::max(leads.iterations, each.iterations);
    if (!leads.unsaved) leads.unsaved = each.unsaved;
    if (!leads.startup) leads.startup = each.startup;
  }
}

}  // namespace

const ContainerEnd* EndOf(const EndedPod& pod) {
  for (const ContainerEnd& end : pod.ends) {
    if (end.container == pod.container) return &end;
  }
  return pod.ends.empty() ? nullptr : &pod.ends.front();
}

const ContainerEnd* EndOf(const EndedPod& pod, const std::string& container, int32_t run) {
  for (const ContainerEnd& end : pod.ends) {
    if (end.container == container && end.run == run) return &end;
  }
  return nullptr;
}

WallTime TimeOf(const EndedPod& pod, const ContainerEnd* end, WallTime now) {
  if (end != nullptr && end->finished != WallTime{}) return std::min(end->finished, now);
  return pod.last_condition != WallTime{} ? std::min(pod.last_condition, now) : now;
}

std::optional<FailureRecord> JudgeFailure(const EndedPod& pod, const ContainerEnd* end,
                                          const LogEvidence* log, WallTime now,
                                          const SeenOfRun& seen) {
  const WallTime at = TimeOf(pod, end, now);
  FailureFacts facts;
  facts.shared_gpu = pod.shared_gpu.value_or(false);
  if (end != nullptr) facts.exit_code = end->exit_code;
  if (pod.failed) facts.conditions = pod.conditions;
  // The pod's own reason is more informative than the end of its container.
  if (pod.failed && !pod.reason.empty()) {
    facts.reason = pod.reason;
    facts.message = pod.message;
  } else if (end != nullptr) {
    facts.reason = end->reason;
    facts.message = end->message.empty() ? pod.condition_message : end->message;
  } else {
    facts.message = pod.condition_message;
  }
  AddAct(Act::kCpu, pod.cpu_changed, at, facts);
  AddAct(Act::kMemory, pod.memory_changed, at, facts);
  if (pod.limit_chosen) facts.acts.push_back({Act::kLimit, {}});
  if (log != nullptr) facts.logs.push_back(ReadingOf(*log));
  const WallTime started = end == nullptr ? WallTime{} : end->started;
  AddActs(seen.acts, started, at, facts);
  AddXids(seen.xids, started, at, facts);
  const std::optional<JobFailure> failure = Classify(facts);
  if (!failure) return std::nullopt;
  // Deleting a pod kills its processes, so the kill is no failure.
  const bool explained =
      failure->category != Category::kUnknown && failure->category != Category::kKilled;
  if (pod.deleting && !explained) return std::nullopt;
  FailureRecord record = RecordOf(pod, *failure, at);
  record.exit_code = facts.exit_code;
  record.reason = Evidence(facts.reason);
  if (end != nullptr) {
    record.container = end->container;
    record.run = end->run;
  }
  // The deletion may be the cause of everything that a process reports afterwards. An eviction by
  // Synergy is a deletion.
  if (pod.asked_to_end != WallTime{} && at > pod.asked_to_end && failure->act != Act::kTakeAway &&
      !PrecedesDeletion(log, *failure, pod)) {
    record.cause = ToString(Cause::kUnknown);
    record.behaviour = ToString(Behaviour::kUnknown);
    record.act.clear();
  }
  if (failure->category == Category::kHostOom && record.container == pod.container) {
    record.chosen_memory = pod.chosen_memory;
    if (record.chosen_memory && pod.memory_before > Bytes(0) && pod.memory_changed &&
        *pod.memory_changed > at - kResizeTakes) {
      record.chosen_memory = std::min(*record.chosen_memory, pod.memory_before);
    }
    record.fair_memory = pod.fair_memory;
    record.profile = pod.profile;
  }
  if (!facts.logs.empty()) record.iterations = facts.logs.front().iterations;
  if (end == nullptr) return record;
  if (log != nullptr) AddLosses(*log, *end, record);
  record.started = end->started;
  record.image_id = end->image_id;
  if (end->started != WallTime{} && at > end->started) {
    auto gpus = static_cast<double>(pod.gpus.count());
    if (pod.slices_per_gpu > 0)
      gpus += static_cast<double>(pod.slices.count()) / static_cast<double>(pod.slices_per_gpu);
    record.gpu_seconds = gpus * Seconds(at - end->started).count();
  }
  return record;
}

const ContainerWait* NoStartOf(const EndedPod& pod) {
  for (const ContainerWait& wait : pod.waits) {
    if (!LacksCause(wait) && ClassifyWait(wait)) return &wait;
  }
  return nullptr;
}

FailureRecord JudgeNoStart(const EndedPod& pod, const ContainerWait& wait, WallTime now) {
  FailureRecord record =
      RecordOf(pod, ClassifyWait(wait).value_or(JobFailure{}), TimeOf(pod, nullptr, now));
  record.container = wait.container;
  record.run = kNeverRan;
  record.reason = Evidence(wait.reason);
  return record;
}

void JoinAttempt(std::vector<FailureRecord>& records) {
  const auto strength = [](const FailureRecord& record) {
    return StrengthOf(CategoryNamed(record.category).value_or(Category::kUnknown));
  };
  const auto leads = std::min_element(
      records.begin(), records.end(), [&](const FailureRecord& a, const FailureRecord& b) {
        return std::tuple(strength(b), a.at, a.pod) < std::tuple(strength(a), b.at, b.pod);
      });
  const auto first = std::min_element(records.begin(), records.end(),
                                      [](const auto& a, const auto& b) { return a.at < b.at; });
  const WallTime attempt = first->at;
  JoinProgress(records, *leads);
  for (FailureRecord& record : records) {
    record.attempt = attempt;
    record.leads = &record == &*leads;
  }
}

PodRun RunOf(const FailureRecord& record) {
  return {record.uid, record.run, record.created, record.started, record.at};
}

bool IsRetry(const PodRun& later, const PodRun& earlier) {
  if (later.uid == earlier.uid) return later.run > earlier.run;
  // If one of them never started, for example because the kubelet refused its pod, only the
  // creation of the later pod shows the order.
  if (later.started == WallTime{} || earlier.started == WallTime{})
    return later.run != kNeverRan && later.created > earlier.failed + kClocks;
  // Clocks of nodes differ from each other and from the API server's. So creation times are
  // compared with each other, and with how long a run took on its node.
  const Duration ran = earlier.failed - earlier.started;
  return later.started > earlier.failed && later.created > earlier.created + ran;
}

std::string DescribeFailure(const FailureRecord& record) {
  const Category category = CategoryNamed(record.category).value_or(Category::kUnknown);
  const std::string act = record.act.empty() ? "" : ", which " + record.act;
  std::string text =
      fmt::format("{}: {} (cause {}{}, {}, advice {})", record.category, EntryOf(category).meaning,
                  record.cause, act, record.behaviour, record.advice);
  if (!record.evidence.empty()) text += ": " + record.evidence;
  return text;
}

std::vector<FailureRecord> MergeRecords(const std::vector<FailureRecord>& some,
                                        const std::vector<FailureRecord>& others) {
  std::map<std::tuple<std::string, std::string, int32_t>, size_t> known;
  std::vector<FailureRecord> merged;
  for (const auto* const records : {&some, &others}) {
    for (const FailureRecord& record : *records) {
      const auto [place, is_new] = known.emplace(KeyOf(record), merged.size());
      if (is_new) {
        merged.push_back(record);
        continue;
      }
      // Keep the decisions and actions of both records.
      FailureRecord& same = merged[place->second];
      same.to_suspend = std::max(same.to_suspend, record.to_suspend);
      same.suspended = std::max(same.suspended, record.suspended);
      same.enlarged = std::max(same.enlarged, record.enlarged);
      same.larger = std::max(same.larger, record.larger);
    }
  }
  std::stable_sort(merged.begin(), merged.end(), [](const auto& a, const auto& b) {
    return std::tie(a.at, a.uid) < std::tie(b.at, b.uid);
  });
  if (merged.size() > kMostFailureRecords) {
    merged.erase(merged.begin(), merged.end() - static_cast<std::ptrdiff_t>(kMostFailureRecords));
  }
  return merged;
}

}  // namespace synergy::controller
