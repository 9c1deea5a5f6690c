#include "controller/progress/failure_keeper.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "controller/progress/failure_judge.h"

namespace synergy::controller {
namespace {

// Pods that are read a step because their containers were restarted.
constexpr size_t kMostReads = 20;
// A Job's owner's owner: RayJob, RayCluster; TrainJob, JobSet, Job.
constexpr int kMostOwners = 4;
constexpr char kJobSetVersion[] = "jobset.x-k8s.io/v1alpha2";
// Events on the pods of one attempt; the owner's says how many there are.
constexpr size_t kMostPodEvents = 64;

}  // namespace

FailureKeeper::FailureKeeper(kube::FailureApi& api, FailureReports& reports,
                             const ClusterState& state, kube::EventRecorder& events,
                             std::function<bool()> may_act, Duration patience, const Clock& clock,
                             Logger& log, metrics::ControllerMetrics& metrics)
    : api_(api),
      reports_(reports),
      state_(state),
      events_(events),
      may_act_(std::move(may_act)),
      patience_(patience),
      clock_(clock),
      log_(log),
      metrics_(metrics) {}

FailureKeeper::RunKey FailureKeeper::KeyOf(const Waiting& one) {
  return one.end ? RunKey{one.pod.uid, one.end->container, one.end->run}
                 : RunKey{one.pod.uid, one.pod.container, 0};
}

void FailureKeeper::Replace(std::vector<EndedPod> all) {
  for (EndedPod& pod : all) Upsert(std::move(pod));
}

void FailureKeeper::Upsert(EndedPod pod) {
  if (!pod.managed || !pod.failed) return;
  const ContainerEnd* const end = EndOf(pod);
  std::optional<ContainerEnd> copy = end == nullptr ? std::nullopt : std::optional(*end);
  const std::lock_guard lock(mutex_);
  Add(std::move(pod), std::move(copy));
}

void FailureKeeper::Add(EndedPod pod, std::optional<ContainerEnd> end) {
  const WallTime now = clock_.WallNow();
  if (TimeOf(pod, end ? &*end : nullptr, now) < now - kOldest) return;
  std::map<RunKey, Waiting>& waiting = waiting_[pod.pod_namespace];
  Waiting one{std::move(pod), std::move(end), clock_.Now()};
  const RunKey key = KeyOf(one);
  if (const auto found = waiting.find(key); found != waiting.end()) {
    one.since = found->second.since;
    found->second = std::move(one);
  } else if (waiting.size() < kMostWaiting) {
    waiting.emplace(key, std::move(one));
  } else {
    metrics_.CountFailureDropped();
  }
}

void FailureKeeper::Forget() {
  const Instant old = clock_.Now() - kOldest;
  const std::lock_guard lock(mutex_);
  for (auto& [name, waiting] : waiting_)
    std::erase_if(waiting, [old](const auto& one) { return one.second.since < old; });
  std::erase_if(waiting_, [](const auto& of_namespace) { return of_namespace.second.empty(); });
}

void FailureKeeper::StartOver() {
  loaded_ = false;
  asked_.clear();
}

void FailureKeeper::Step(const std::stop_token& stop) {
  if (!loaded_ && !ReadHistories(stop)) return;
  AddRestarts(stop);
  for (const Attempt& attempt : TakeAttempts()) {
    if (stop.stop_requested()) return;
    Report(attempt, stop);
  }
  WriteDue(stop);
  Forget();
}

bool FailureKeeper::ReadHistories(const std::stop_token& stop) {
  auto histories = api_.ListHistories(stop);
  if (!histories) {
    if (!std::exchange(failed_, true))
      log_.Warn("cannot read the records of failures", {{"error", histories.error().message}});
    return false;
  }
  failed_ = false;
  // Records that this replica has not written yet stay.
  std::map<std::string, FailureHistory> read;
  for (FailureHistory& history : *histories) {
    if (history.of_namespace.empty()) continue;
    read.insert_or_assign(history.of_namespace, std::move(history));
  }
  for (const auto& [name, when] : unwritten_) {
    FailureHistory& history = read[name];
    history.of_namespace = name;
    history.records = MergeRecords(history.records, histories_[name].records);
  }
  histories_ = std::move(read);
  loaded_ = true;
  return true;
}

void FailureKeeper::AddRestarts(const std::stop_token& stop) {
  const Instant now = clock_.Now();
  std::erase_if(asked_, [now](const auto& entry) { return now - entry.second > kOldest; });
  const auto cluster = state_.Snapshot();
  size_t reads = 0;
  for (const auto& [node, runs] : reports_.All(now)) {
    const auto index = cluster->Find(node);
    if (!index) continue;
    const auto& pods = cluster->node(*index).detail->pods;
    for (const EndedRun& run : runs) {
      const RunKey key{run.uid, run.container, run.run};
      if (asked_.contains(key)) continue;
      const auto pod = std::find_if(pods.begin(), pods.end(),
                                    [&](const auto& one) { return one->uid == run.uid; });
      // A pod that has ended comes by the watch.
      if (pod == pods.end() || !(*pod)->fungible) continue;
      if (++reads > kMostReads || stop.stop_requested()) return;
      auto read = api_.ReadPod((*pod)->pod_namespace, (*pod)->name, stop);
      if (!read && read.error().code != ErrorCode::kNotFound) continue;
      asked_.emplace(key, now);
      if (!read || read->uid != run.uid || read->node != node || read->failed) continue;
      const ContainerEnd* const end = EndOf(*read, run.container, run.run);
      if (end == nullptr) continue;
      ContainerEnd copy = *end;
      const std::lock_guard lock(mutex_);
      Add(*std::move(read), std::move(copy));
    }
  }
}

bool FailureKeeper::IsReady(const Attempt& attempt, Instant now) const {
  Instant oldest = now;
  bool ready = true;
  for (const Waiting& one : attempt) {
    oldest = std::min(oldest, one.since);
    const Duration waited = now - one.since;
    const bool reported =
        one.end && reports_.Of(one.pod.node, one.pod.uid, one.end->container, one.end->run);
    ready &= waited >= (reported ? kSettle : std::max(patience_, kSettle));
  }
  return ready || now - oldest >= kMostSettle;
}

std::vector<FailureKeeper::Attempt> FailureKeeper::TakeAttempts() {
  const Instant now = clock_.Now();
  std::vector<Attempt> taken;
  const std::lock_guard lock(mutex_);
  for (auto& [name, waiting] : waiting_) {
    std::map<std::string, Attempt> attempts;  // by the owner's uid
    for (const auto& [key, one] : waiting) {
      const EndedPod& pod = one.pod;
      const std::string& owner = !pod.job_set.empty()    ? pod.job_set
                                 : pod.owner.uid.empty() ? pod.uid
                                                         : pod.owner.uid;
      attempts[owner].push_back(one);
    }
    size_t of_namespace = 0;
    for (auto& [owner, attempt] : attempts) {
      if (!IsReady(attempt, now)) continue;
      if (++of_namespace > kMostAttempts) break;
      for (const Waiting& one : attempt) waiting.erase(KeyOf(one));
      taken.push_back(std::move(attempt));
    }
  }
  return taken;
}

bool FailureKeeper::IsKnown(const std::string& pod_namespace, const RunKey& key,
                            WallTime at) const {
  const auto found = histories_.find(pod_namespace);
  if (found == histories_.end()) return false;
  const std::vector<FailureRecord>& records = found->second.records;
  // Older ones may have been pushed out.
  if (records.size() >= kMostFailureRecords && at < records.front().at) return true;
  return std::any_of(records.begin(), records.end(), [&key](const FailureRecord& record) {
    return RunKey{record.uid, record.container, record.run} == key;
  });
}

ObjectOwner FailureKeeper::OutermostOwner(const EndedPod& pod, std::string& queue,
                                          const std::stop_token& stop) {
  ObjectOwner owner = pod.owner;
  for (int i = 0; i < kMostOwners && !owner.kind.empty(); ++i) {
    Result<wire::OwnerFacts> facts = api_.ReadOwner(pod.pod_namespace, owner, stop);
    if ((!facts || facts->uid != owner.uid) && owner.kind == "Job" && !pod.job_set.empty()) {
      // A JobSet that restarts deletes its Jobs.
      ObjectOwner set{kJobSetVersion, "JobSet", pod.job_set, ""};
      facts = api_.ReadOwner(pod.pod_namespace, set, stop);
      if (!facts) break;
      set.uid = facts->uid;
      owner = std::move(set);
    }
    // The name may be another object's by now.
    if (!facts || facts->uid != owner.uid) break;
    if (queue.empty()) queue = facts->queue;
    if (facts->owner.kind.empty()) break;
    owner = facts->owner;
  }
  return owner;
}

void FailureKeeper::Report(const Attempt& attempt, const std::stop_token& stop) {
  const WallTime now = clock_.WallNow();
  const EndedPod& any = attempt.front().pod;
  std::vector<FailureRecord> records;
  for (const Waiting& one : attempt) {
    const ContainerEnd* const end = one.end ? &*one.end : nullptr;
    if (IsKnown(any.pod_namespace, KeyOf(one), TimeOf(one.pod, end, now))) continue;
    std::optional<LogEvidence> log;
    if (end != nullptr) log = reports_.Of(one.pod.node, one.pod.uid, end->container, end->run);
    auto record = JudgeFailure(one.pod, end, log ? &*log : nullptr, now);
    if (record) records.push_back(*std::move(record));
  }
  if (records.empty() || !may_act_()) return;
  JoinAttempt(records);
  std::string queue = any.queue;
  const ObjectOwner owner = OutermostOwner(any, queue, stop);
  size_t events = 0;
  for (FailureRecord& record : records) {
    record.owner = owner;
    record.queue = queue;
    metrics_.CountFailure(record.category);
    if (!record.leads && ++events > kMostPodEvents) continue;
    events_.Record({any.pod_namespace, record.pod, record.uid, "Warning", "SynergyFailure",
                    DescribeFailure(record)});
  }
  const auto leads = std::find_if(records.begin(), records.end(),
                                  [](const FailureRecord& record) { return record.leads; });
  if (!owner.kind.empty()) {
    const std::string rank = leads->rank.empty() ? "" : fmt::format(" (rank {})", leads->rank);
    const std::string others =
        records.size() == 1 ? "" : fmt::format(", and {} more pods with it", records.size() - 1);
    events_.Record(
        {any.pod_namespace, owner.name, owner.uid, "Warning", "SynergyFailure",
         fmt::format("pod {}{} failed{}: {}", leads->pod, rank, others, DescribeFailure(*leads)),
         owner.kind, owner.api_version});
  }
  FailureHistory& history = histories_[any.pod_namespace];
  history.of_namespace = any.pod_namespace;
  history.records = MergeRecords(history.records, records);
  const auto written = written_.find(any.pod_namespace);
  unwritten_.emplace(any.pod_namespace,
                     written == written_.end() ? clock_.Now() : written->second + kWriteInterval);
}

void FailureKeeper::WriteDue(const std::stop_token& stop) {
  const Instant now = clock_.Now();
  size_t writes = 0;
  // Begins behind the namespace that was served last.
  std::vector<std::string> due;
  for (const auto& [name, when] : unwritten_) {
    if (when <= now) due.push_back(name);
  }
  std::rotate(due.begin(), std::upper_bound(due.begin(), due.end(), served_), due.end());
  for (const std::string& name : due) {
    if (++writes > kMostWrites || stop.stop_requested() || !may_act_()) return;
    served_ = name;
    if (Write(histories_[name], stop)) {
      written_[name] = now;
      unwritten_.erase(name);
    } else {
      unwritten_[name] = now + kWriteInterval;
    }
  }
}

bool FailureKeeper::Write(FailureHistory& history, const std::stop_token& stop) {
  Result<FailureHistory> written = api_.WriteHistory(history, stop);
  if (!written && written.error().code == ErrorCode::kConflict) {
    auto read = api_.ReadHistory(history.of_namespace, stop);
    if (read) {
      history.resource_version = read->resource_version;
      history.records = MergeRecords(history.records, read->records);
      written = api_.WriteHistory(history, stop);
    }
  }
  if (written) {
    history.resource_version = written->resource_version;
    return true;
  }
  // The ConfigMap was deleted.
  if (written.error().code == ErrorCode::kNotFound) history.resource_version.clear();
  log_.Warn("cannot write the records of failures",
            {{"namespace", history.of_namespace}, {"error", written.error().message}});
  return false;
}

}  // namespace synergy::controller
